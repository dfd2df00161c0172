/** A relay to the server that can stop forwarding: connections remain open, and no byte passes in either direction. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted } from "effect"

/** Postgres' name for its socket file, at the default port. */
const upstreamOf = (url: URL) => {
  const directory = url.searchParams.get("host")
  return directory === null
    ? { host: url.hostname, port: Number(url.port || 5432) }
    : { path: `${directory}/.s.PGSQL.5432` }
}

export const halfOpen = (direct: Redacted.Redacted<string>) =>
  Effect.gen(function* () {
    const url = new URL(Redacted.value(direct))
    const upstream = upstreamOf(url)
    let silent = false
    const sockets = new Set<Socket>()
    const server = createServer((client) => {
      const there = connect(upstream)
      for (const [from, to] of [
        [client, there],
        [there, client]
      ] as const) {
        sockets.add(from)
        from.on("data", (bytes) => {
          if (!silent) to.write(bytes)
        })
        from.on("error", () => {})
        from.on("close", () => {
          sockets.delete(from)
          if (!silent) to.destroy()
        })
      }
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    )
    const address = server.address()
    const way = new URL(url)
    way.searchParams.delete("host")
    way.searchParams.set("sslmode", "disable")
    const port = typeof address === "object" && address !== null ? address.port : 0
    const user = url.username || url.searchParams.get("user") || ""
    way.searchParams.delete("user")
    return {
      url: Redacted.make(
        `postgresql://${user}${url.password && `:${url.password}`}@127.0.0.1:${port}${url.pathname}${way.search}`
      ),
      port,
      /** Destroys every connection. */
      cut: Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      }),
      /** Starts or stops dropping bytes; dropped bytes never arrive. */
      silence: (quiet: boolean) =>
        Effect.sync(() => {
          silent = quiet
        })
    }
  })

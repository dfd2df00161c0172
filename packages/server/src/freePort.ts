/**
 * A port that nothing listens on, for a listener whose address others must know before it listens.
 *
 * Between this answer and the listener another process could take the port, so ports come from where that is unlikely:
 * below the range from which kernels give ports to outgoing connections (Linux: from 32768), and each process begins at
 * a place of its own, by its id. If it happens all the same, the listener fails and says so.
 *
 * Pitfall: asking the kernel with port 0. It answers from the very range that every outgoing connection draws from.
 */
import { createServer } from "node:net"
import { Effect } from "effect"

const lowest = 20_000
const count = 12_000
/** More than a process has listeners. */
const ofOneProcess = 10

let tried = 0

const next = (): number => {
  const port = lowest + ((process.pid * ofOneProcess + tried) % count)
  tried += 1
  return port
}

const isFree = (host: string, port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(error.code === "EADDRINUSE" ? Effect.succeed(false) : Effect.die(error))
    )
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(true))))
  })

/** Another one at each call. */
export const freePort = (host: string): Effect.Effect<number> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < count; attempt++) {
      const port = next()
      if (yield* isFree(host, port)) return port
    }
    return yield* Effect.die(new Error("A free port could not be found."))
  })

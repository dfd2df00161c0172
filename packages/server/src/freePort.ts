/**
 * A port that is free now, for a listener whose address other parts need before it listens.
 *
 * Another process could take the port in between, so ports come from a range where that is unlikely: below the range
 * from which kernels assign ports to outgoing connections (Linux: from 32768), and from a start that differs between
 * processes. If it happens nevertheless, the listener fails with an error.
 *
 * Pitfall: asking the kernel with port 0. It assigns from the range of outgoing connections.
 */
import { createServer } from "node:net"
import { Effect } from "effect"

const lowest = 20_000
const count = 12_000
/** At least the number of listeners of a process. */
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

/** A different port at each call. Dies when every port of the range is taken. */
export const freePort = (host: string): Effect.Effect<number> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < count; attempt++) {
      const port = next()
      if (yield* isFree(host, port)) return port
    }
    return yield* Effect.die(new Error("A free port could not be found."))
  })

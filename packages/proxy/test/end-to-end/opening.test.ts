import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { open, takesConnection, untilClosed, usual } from "../support/clients.ts"
import { harness } from "../support/harness.ts"

/** A compute that never starts, so that its clients wait. */
const slow = { generation: 0, running: false, address: "", start: () => new Promise<string>(() => {}) }

const asking = (port: number) => {
  const socket = open(port)
  socket.write(usual)
  return { socket, answer: Effect.promise(() => untilClosed(socket)) }
}

describe("a connection that is being opened", () => {
  it.live("clients that wait for a compute get 57P03 at once when the proxy drains", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(slow, { shutdown_grace: "50 seconds" })
      const clients = [asking(port), asking(port)]
      yield* eventually(
        "the wake",
        Effect.sync(() => control.resolves.length === 2 && control.wakes.length === 1)
      )
      const answers = Effect.forEach(clients, ({ answer }) => answer, { concurrency: 2 })
      const [heard] = yield* Effect.all([answers, proxy.drain], { concurrency: 2 })
      for (const answer of heard) assert.match(answer.toString("latin1"), /C57P03\0MThe proxy is restarting\./)
    })
  )

  it.live("a client that leaves while it waits for a compute returns what it held", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(slow, { limits: { connections: 1, unauthenticated: 1 } })
      for (const round of [1, 2, 3]) {
        const { socket } = asking(port)
        yield* eventually(
          "the client to reach the endpoint",
          Effect.sync(() => control.resolves.length >= round)
        )
        socket.destroy()
        const next = Effect.promise(() => takesConnection(port))
        yield* eventually("the slot of the client that left", next)
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { takesConnection } from "../support/clients.ts"
import { harness } from "../support/harness.ts"
import { session } from "../support/session.ts"

/** A compute that never starts, so that its clients wait. */
const slow = { generation: 0, running: false, address: "", start: () => new Promise<string>(() => {}) }

/** A client that has proved itself, and why it got no session. */
const asking = (port: number) => {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  const refused = session(port, "select 1", undefined, undefined, (socket) => resolve(() => socket.destroy())).then(
    () => "served",
    (error: Error) => error.message
  )
  return {
    leave: Effect.map(
      Effect.promise(() => promise),
      (leave) => leave()
    ),
    refused: Effect.promise(() => refused)
  }
}

describe("a connection that is being opened", () => {
  it.live("clients that wait for a compute get 57P03 at once when the proxy drains", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(slow, { shutdown_grace: "50 seconds" })
      const clients = [asking(port), asking(port)]
      yield* eventually(
        "the wake",
        Effect.sync(() => control.wakes.length === 1)
      )
      const answers = Effect.forEach(clients, ({ refused }) => refused, { concurrency: 2 })
      const [heard] = yield* Effect.all([answers, proxy.drain], { concurrency: 2 })
      for (const answer of heard) assert.match(answer, /C57P03\0MThe proxy is restarting\./)
    })
  )

  it.live("a client that leaves while it waits for a compute returns what it held", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(slow, { limits: { connections: 2, endpoint_connections: 1 } })
      for (const round of [1, 2, 3]) {
        const { leave } = asking(port)
        yield* eventually(
          "the client to wait for the compute",
          Effect.sync(() => control.resolves.length >= round)
        )
        yield* leave
        const next = Effect.promise(() => takesConnection(port))
        yield* eventually("the slot of the client that left", next)
      }
    })
  )
})

/** Waits of a connection that is being opened, and the effect of a defect in a stage. */
import { Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Logger } from "effect"
import { ConnectionLimiter, defaultConnectionLimits } from "../../src/limits/ConnectionLimiter.ts"
import { makeDeadlines } from "../../src/limits/Deadlines.ts"
import { OpeningConnection } from "../../src/opening/OpeningConnection.ts"
import type { SharedState } from "../../src/opening/SharedState.ts"
import { Connections } from "../../src/relay/Connections.ts"

/** A connection of a proxy that takes one, and whether the proxy has room for another. */
const opening = Effect.gen(function* () {
  const limiter = new ConnectionLimiter({ ...defaultConnectionLimits, connections: 1 }, () => 0)
  const slots = limiter.open() ?? assert.fail("no connection is left")
  const deadlines = yield* makeDeadlines("10 seconds")
  const context: Context.Context<never> = yield* Effect.context<never>()
  // The members that a connection uses without any stage.
  const shared = { connections: new Connections(), deadlines, context } as unknown as SharedState
  const connection = new OpeningConnection(shared, new Socket(), slots)
  return { connection, shared, hasRoom: () => limiter.open() !== undefined }
}).pipe(Effect.provide(Logger.layer([])))

describe("a connection that is being opened", () => {
  it.effect("calls off what it waits for when it ends, and takes no late answer", () =>
    Effect.gen(function* () {
      const { connection, hasRoom } = yield* opening
      let calledOff = 0
      let answer = (_: string) => {}
      const taken: Array<string> = []
      connection.wait<string>(
        (done) => {
          answer = done
          return () => void calledOff++
        },
        (value) => taken.push(value)
      )
      assert.strictEqual(calledOff, 0)
      connection.abandon()
      answer("late")
      assert.strictEqual(calledOff, 1)
      assert.deepStrictEqual(taken, [])
      assert.isTrue(hasRoom())
    })
  )

  it.effect("ends alone when a stage meets a defect, at once or in an answer", () =>
    Effect.gen(function* () {
      const defect = () => {
        throw new Error("a defect")
      }
      const answer = (done: (value: string) => void) => {
        done("")
        return () => {}
      }
      for (const begin of [defect, answer]) {
        const { connection, hasRoom, shared } = yield* opening
        connection.wait<string>(begin, defect)
        assert.isTrue(connection.socket.destroyed)
        assert.strictEqual(shared.connections.openings.size, 0)
        assert.isTrue(hasRoom())
      }
    })
  )
})

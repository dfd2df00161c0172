/** Ports for listeners that start a moment later: free, different, and not where outgoing connections take theirs. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { freePort } from "../src/freePort.ts"

const host = "127.0.0.1"

/** A port that is in use until the end of the test: the next one that `freePort` would give. */
const takenPort = Effect.gen(function* () {
  let taken = 0
  yield* eventually(
    "a port that no other process holds",
    Effect.gen(function* () {
      taken = (yield* freePort(host)) + 1
      return (yield* listener(taken)).listening
    })
  )
  return taken
})

const listener = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer()
      await once(server.listen(port, host), "listening").catch(() => undefined)
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )

describe("freePort", () => {
  it.effect("freePort gives another port at each call, outside the range of outgoing connections", () =>
    Effect.gen(function* () {
      const ports = yield* Effect.forEach(Array.from({ length: 20 }), () => freePort(host))
      assert.lengthOf(new Set(ports), ports.length)
      // Linux begins to give out ports at 32768, others later.
      assert.isEmpty(ports.filter((port) => port < 1_024 || port >= 32_768))
    })
  )

  it.effect("freePort skips a port that is in use", () =>
    Effect.gen(function* () {
      const taken = yield* takenPort
      const ports = yield* Effect.forEach(Array.from({ length: 3 }), () => freePort(host))
      assert.notInclude(ports, taken)
    })
  )
})

/** Ports for listeners that start a moment later: free, different, and not where outgoing connections take theirs. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../src/freePort.ts"

const host = "127.0.0.1"

const listener = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer()
      // A port that another process holds is in use as well.
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
      const taken = (yield* freePort(host)) + 1
      yield* listener(taken)
      const ports = yield* Effect.forEach(Array.from({ length: 3 }), () => freePort(host))
      assert.notInclude(ports, taken)
    })
  )
})

/** Connections of the proxy's own process, on behalf of a client: docs/design/proxy.md P53. */
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { connectingWithin } from "../src/connectWithin.ts"
import { makeProxy } from "../src/makeProxy.ts"
import { once, untilClosed, usual } from "./support/clients.ts"
import { MemoryControlPlane } from "./support/MemoryControlPlane.ts"
import { scramCompute } from "./support/scramCompute.ts"

/** A proxy that lets only 192.0.2.0/24 in. */
const serving = Effect.gen(function* () {
  const address = yield* scramCompute({})
  const start = () => Promise.resolve(address)
  const control = yield* MemoryControlPlane.make({ generation: 1, running: true, address, start })
  control.rules = [{ cidr: "192.0.2.0/24", expires_at: null }]
  control.version++
  const config = { domain: "db.test", trusted: ["127.0.0.0/8"] }
  const proxy = yield* makeProxy(config).pipe(Effect.provide([control.layer, Logger.layer([])]))
  yield* TestClock.adjust("1 milli")
  const open = yield* connectingWithin(proxy.serve)
  const asking = (client: string) => {
    const socket = open(client)
    socket.write(usual)
    return socket
  }
  return { asking, open }
})

const portOf = (socket: Socket) =>
  new Promise<number>((resolve) => {
    socket.once("connect", () => resolve(socket.remotePort ?? 0))
  })

describe("connections from the same process", () => {
  it.effect("the allowlist is asked about the client, not about this process", () =>
    Effect.gen(function* () {
      const { asking } = yield* serving
      const refused = yield* Effect.promise(() => untilClosed(asking("198.51.100.7")))
      assert.match(refused.toString("latin1"), /C28000/)
      const served = asking("192.0.2.9")
      const first = yield* Effect.promise(() => once(served))
      assert.strictEqual(String.fromCharCode(first[0] ?? 0), "R", "the proxy asks for the proof")
      served.destroy()
    })
  )

  it.effect("a stranger on this machine, who has no token, is closed without an answer", () =>
    Effect.gen(function* () {
      const { open } = yield* serving
      const known = open("192.0.2.9")
      const port = yield* Effect.promise(() => portOf(known))
      for (const token of [Buffer.alloc(32), Buffer.from("not a token at all, but as long as one")]) {
        const stranger = connect({ host: "127.0.0.1", port })
        stranger.write(Buffer.concat([token, usual]))
        assert.lengthOf(yield* Effect.promise(() => untilClosed(stranger)), 0)
      }
      known.destroy()
    })
  )
})

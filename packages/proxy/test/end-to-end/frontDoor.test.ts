/** Every name that a client may type, with no password, with an empty one and with a wrong one. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Cluster } from "../support/Cluster.ts"
import { open, sqlClient, startup, untilClosed } from "../support/clients.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"

/** What the proxy answers to a client that sends a startup packet and waits. */
const answerTo = (port: number, user: string) =>
  Effect.promise(async () => {
    const socket = open(port)
    socket.write(startup(["user", user], ["database", "postgres"], ["options", `endpoint=${endpoint_id}`]))
    return (await untilClosed(socket)).toString("latin1")
  })

describe("a server that trusts the account of the proxy", () => {
  const trusting = new Cluster("local all all trust\n")
  beforeAll(() => trusting.start())
  afterAll(() => trusting.remove())

  it.live("serves no role that the catalog has, because a session begins only after a proof", () =>
    Effect.gen(function* () {
      const { port, proxy } = yield* harness(trusting)
      const direct = sqlClient(port, { path: trusting.address, username: "app" })
      const roles = yield* Effect.promise(
        () => direct<ReadonlyArray<{ name: string }>>`select rolname as name from pg_roles`
      )
      yield* Effect.promise(() => direct.end())
      assert.isAbove(roles.length, 10)
      for (const { name } of roles) {
        const answer = yield* answerTo(port, name)
        assert.match(answer, /^E....SFATAL\0VFATAL\0C28000\0/s, name)
      }
      yield* eventually(
        "every connection to be closed",
        Effect.map(proxy.connections, (count) => count === 0)
      )
    })
  )
})

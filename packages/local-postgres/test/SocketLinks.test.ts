import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { openSocketLinks, targetOf } from "../src/cluster/SocketLinks.ts"
import { closedDirectory } from "./support.ts"

describe("links to sockets", () => {
  it.live("a link that was removed since the listing leads nowhere, and other failures are no such link", () =>
    Effect.gen(function* () {
      const directory = yield* closedDirectory
      assert.isUndefined(targetOf(join(directory, "removed")))
      assert.throws(() => targetOf(directory), "EINVAL")
    }).pipe(Effect.scoped)
  )

  it.live("a listing takes no turn of the event loop, however many computes run", () =>
    Effect.gen(function* () {
      const links = yield* openSocketLinks(yield* closedDirectory)
      const names = Array.from({ length: 40 }, (_, n) => `ep-${n}.1`)
      yield* Effect.forEach(names, (name) => links.put(name, clusterAt("/br-one", "compute")), { discard: true })
      let turns = 0
      setImmediate(() => turns++)
      assert.lengthOf(yield* links.list, names.length)
      assert.strictEqual(turns, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a listing succeeds while other branches put and remove links", () =>
    Effect.gen(function* () {
      const links = yield* openSocketLinks(yield* closedDirectory)
      const cluster = clusterAt("/br-one", "compute")
      yield* links.put("ep-stays.1", cluster)
      const names = Array.from({ length: 40 }, (_, n) => `ep-${n}.1`)
      const round = Effect.gen(function* () {
        yield* Effect.forEach(names, (name) => links.put(name, cluster), { concurrency: 8, discard: true })
        const removal = Effect.forEach(names, links.remove, { concurrency: 8, discard: true })
        const [listed] = yield* Effect.all([links.list, removal], { concurrency: 2 })
        assert.isTrue(listed.some(({ name }) => name === "ep-stays.1"))
      })
      yield* Effect.repeat(round, { times: 20 })
      assert.deepStrictEqual(yield* links.list, [{ name: "ep-stays.1", cluster: "/br-one" }])
    }).pipe(Effect.scoped)
  )
})

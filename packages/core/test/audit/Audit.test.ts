/** Acts in their transactions, over memory: one entry for each commit, none for work that failed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { Conflict } from "../../src/Refusals.ts"
import { ActOrigin } from "../../src/records/audit/ActOrigin.ts"
import { AuditLog } from "../../src/records/audit/AuditLog.ts"
import { actsIn, actsOn } from "../../src/records/audit/RunningAct.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { Audit } from "../../src/services/audit/Audit.ts"
import { Transaction } from "../../src/Transaction.ts"
import { anOrgId, aProject, firstPage } from "../../testing/records.ts"
import { person } from "../authorization/callers.ts"

const services = Audit.layer.pipe(Layer.provideMerge(layerMemoryPorts))

const target = { type: "project", id: "prj-1" }

/** The entries of an organization. */
const entriesOf = (org: ReturnType<typeof anOrgId>) =>
  Effect.flatMap(AuditLog, ({ list }) => Effect.map(list(org, {}, firstPage), ({ items }) => items))

describe("acts", () => {
  it.effect("a change, its event and its entry are one commit", () =>
    Effect.gen(function* () {
      const { during } = yield* Audit
      const caller = person("owner", "active")
      const project = aProject({ org_id: caller.org_id })
      const insert = Effect.flatMap(ProjectStore, (store) => store.insert(project))
      const refuse = Effect.andThen(insert, new Conflict({ reason: "No." }))
      yield* Effect.flip(during(caller, "project.created", refuse, () => ({ targets: [target] })))
      assert.deepStrictEqual(yield* entriesOf(caller.org_id), [])
      assert.isTrue((yield* (yield* ProjectStore).find(caller.org_id, project.id))._tag === "None")
      yield* during(caller, "project.created", insert, () => ({ targets: [target] }))
      assert.lengthOf(yield* entriesOf(caller.org_id), 1)
    }).pipe(Effect.provide(services))
  )

  it.effect("work that storage runs again leaves one entry, of its last run", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      let runs = 0
      // Storage that undoes the first run, as Postgres does after a deadlock.
      const twice = Transaction.make({
        begin: (work) =>
          Effect.andThen(
            Effect.ignore(run(Effect.andThen(work, Effect.fail(new Conflict({ reason: "Undone." }))))),
            run(work)
          ),
        append: (yield* EventLog).append,
        committed: Effect.void
      })
      const again = Audit.layer.pipe(Layer.provide(Layer.succeed(Transaction, twice)))
      const caller = person("owner", "active")
      const work = Effect.andThen(
        actsOn("prj-1", "shop"),
        Effect.sync(() => ++runs)
      )
      yield* Effect.flatMap(Audit, ({ during }) =>
        during(caller, "project.created", work, (run) => ({ targets: [target], metadata: { run: String(run) } }))
      ).pipe(Effect.provide(again, { local: true }))
      const [entry, ...more] = yield* entriesOf(caller.org_id)
      assert.deepStrictEqual([more, entry?.metadata, entry?.targets[0]?.name], [[], { run: "2" }, "shop"])
    }).pipe(Effect.provide(services))
  )

  it.effect("an entry belongs to the organization that the work names, else to the caller's", () =>
    Effect.gen(function* () {
      const { during } = yield* Audit
      const [caller, other] = [person("owner", "active"), anOrgId()]
      yield* during(caller, "session.switched", actsIn(other), () => ({ targets: [target] }))
      assert.deepStrictEqual(yield* entriesOf(caller.org_id), [])
      assert.lengthOf(yield* entriesOf(other), 1)
    }).pipe(Effect.provide(services))
  )

  it.effect("text that storage cannot hold is replaced, and long text is cut", () =>
    Effect.gen(function* () {
      const { during } = yield* Audit
      const caller = person("owner", "active")
      const origin = { address: "192.0.2.7", user_agent: "a\u0000b", request_id: null }
      yield* during(caller, "project.created", Effect.void, () => ({
        targets: [{ type: "project", id: "x".repeat(500), name: "\ud800" }],
        metadata: { note: "y".repeat(500) }
      })).pipe(Effect.provideService(ActOrigin, origin))
      const [entry] = yield* entriesOf(caller.org_id)
      assert.deepInclude(entry?.context, { user_agent: "a\ufffdb", request_id: null })
      assert.deepInclude(entry?.targets[0], { id: "x".repeat(128), name: "\ufffd" })
      assert.strictEqual(entry?.metadata["note"]?.length, 256)
    }).pipe(Effect.provide(services))
  )
})

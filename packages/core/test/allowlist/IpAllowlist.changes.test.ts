/** Changes of an allowlist and the internal events that notify the proxies: exactly one for each change. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ProjectId } from "../../src/Ids.ts"
import { allowlistChangeOf } from "../../src/records/allowlist/AllowlistChange.ts"
import { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { IpAllowlist, maxRules } from "../../src/services/allowlist/IpAllowlist.ts"
import { aUser } from "../../testing/records.ts"
import { Core, logged } from "../memory/core.ts"
import { insertedProject } from "./insertedProject.ts"

const ada = aUser().ref
const rule = (cidr: string) => ({ cidr, label: "  office " })

/** The allowlist versions in a project's change events, in order. */
const emittedVersions = (project: string) =>
  Effect.map(logged, (events) =>
    events
      .flatMap((event) => Option.toArray(allowlistChangeOf(event)))
      .filter((change) => change.project_id === project)
      .map(({ version }) => version)
  )

const versionOf = (project: ProjectId) =>
  IpAllowlistStore.use(({ lists }) => Effect.map(lists([project]), ([list]) => list?.version))

describe("A change of an allowlist", () => {
  it.effect("a change of an allowlist emits one event with the list's new version", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const project = yield* insertedProject
      const steps = [
        allowlist.add(project, rule("203.0.113.0/24"), ada),
        allowlist.add(project, rule("203.0.113.0/24"), ada),
        allowlist.add(project, rule("::ffff:198.51.100.0/120"), ada),
        allowlist.remove(project, "198.51.100.0/24"),
        allowlist.reset(project)
      ]
      for (const [index, step] of steps.entries()) {
        yield* step
        const versions = yield* emittedVersions(project.id)
        assert.strictEqual(versions.length, index + 1)
        assert.strictEqual(versions.at(-1), yield* versionOf(project.id))
      }
      const versions = yield* emittedVersions(project.id)
      assert.deepStrictEqual(
        versions,
        versions.toSorted((a, b) => a - b)
      )
      assert.strictEqual(new Set(versions).size, steps.length)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a refused change of an allowlist emits no event and keeps the version", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const project = yield* insertedProject
      yield* allowlist.add(project, rule("203.0.113.0/24"), ada)
      const version = yield* versionOf(project.id)
      for (const refused of [
        allowlist.add(project, rule("203.0.113.7"), ada),
        allowlist.add(project, rule("203.0.113.7/24"), ada),
        allowlist.remove(project, "198.51.100.0/24"),
        allowlist.remove(project, "203.0.113.0"),
        allowlist.remove(project, "0.0.0.0/0"),
        allowlist.remove(project, "nonsense"),
        allowlist.remove(project, "")
      ])
        assert.strictEqual((yield* Effect.exit<unknown, unknown, never>(refused))._tag, "Failure")
      assert.deepStrictEqual(yield* emittedVersions(project.id), [version])
      assert.strictEqual(yield* versionOf(project.id), version)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a change applies to its project only, and an IPv4-mapped network equals the IPv4 one", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const [project, other] = [yield* insertedProject, yield* insertedProject]
      const { rule: made } = yield* allowlist.add(project, rule("::ffff:198.51.100.0/120"), ada)
      assert.deepStrictEqual([String(made.cidr), made.label], ["198.51.100.0/24", "office"])
      assert.isTrue((yield* allowlist.add(project, rule("198.51.100.0/24"), ada)).replaced)
      assert.isFalse((yield* allowlist.list(other.id)).restricted)
      assert.deepStrictEqual(yield* emittedVersions(other.id), [])
    }).pipe(Effect.provide(Core))
  )

  it.effect("simultaneous additions to an allowlist do not exceed the limit", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const project = yield* insertedProject
      for (let n = 0; n < maxRules - 3; n++) yield* allowlist.add(project, rule(`10.${n >> 8}.${n & 255}.0/24`), ada)
      const attempts = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => `192.0.2.${n}/32`),
        (cidr) => Effect.exit(allowlist.add(project, rule(cidr), ada)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(attempts.filter(({ _tag }) => _tag === "Success").length, 3)
      assert.strictEqual((yield* allowlist.list(project.id)).rules.length, maxRules)
    }).pipe(Effect.provide(Core))
  )
})

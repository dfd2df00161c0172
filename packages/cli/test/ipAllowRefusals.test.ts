import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { shop } from "./support/records.ts"
import { problem } from "./support/replies.ts"
import { signedIn } from "./support/signedIn.ts"

const refused = (n: number, rest: Readonly<Record<string, unknown>> = {}) => ({
  address: `203.0.113.${n}`,
  endpoint_id: "ep-01k3z6v9e8q0x5m4c2b7n1r0sd",
  branch_id: "br-01k3z6v9e8q0x5m4c2b7n1r0sd",
  role: null,
  reason: "address_not_listed",
  count: n,
  first_at: "2026-11-20T08:00:00.000Z",
  last_at: "2026-11-20T09:00:00.000Z",
  ...rest
})

const command = ["ip-allow", "refusals", "--project", shop]

describe("ip-allow refusals", () => {
  it.live("ip-allow refusals prints each refused client, and how to allow the last one", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.allowlist.list("192.0.2.0/24")
      plane.allowlist.refusals.push(refused(7, { role: "role_8f3k2m9x1c4v7b0n" }), refused(12))
      const { code, stderr, stdout } = yield* run(command)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^ADDRESS +ENDPOINT +TIMES {2}LAST +REASON +ROLE\n/)
      assert.match(
        stdout,
        /\n203\.0\.113\.7 +ep-01k3\S+ +7 +2026-11-20T09:00:00\.000Z +address_not_listed +role_8f3k2m9x1c4v7b0n\n/
      )
      assert.match(stdout, /\n203\.0\.113\.12 +\S+ +12 .* -\n$/)
      assert.strictEqual(stderr, `To allow the last one: narthex ip-allow add 203.0.113.7 --project ${shop}\n`)
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals says that the last address may connect now, and does not offer to allow it", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.allowlist.refusals.push(refused(7), refused(12))
      plane.allowlist.list("203.0.113.0/28")
      assert.strictEqual((yield* run(command)).stderr, "The last one, 203.0.113.7, may connect now.\n")
      plane.allowlist.rules.length = 0
      assert.strictEqual((yield* run(command)).stderr, "The last one, 203.0.113.7, may connect now.\n")
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals offers nothing when the check of the last address fails, and succeeds", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.allowlist.refusals.push(refused(7))
      plane.allowlist.list("192.0.2.0/24")
      plane.instead = ({ path }) => (path.endsWith("/check") ? problem("scope_insufficient") : undefined)
      const { code, stderr, stdout } = yield* run(command)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(stdout, "203.0.113.7")
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals prints the answer of the API as JSON and YAML, and chosen members", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.allowlist.refusals.push(refused(7), refused(12, { reason: "rules_unknown" }))
      const { stdout } = yield* run([...command, "-o", "json"])
      assert.deepStrictEqual(JSON.parse(stdout), {
        refusals: plane.allowlist.refusals,
        pagination: { next_cursor: null }
      })
      assert.match((yield* run([...command, "-o", "yaml"])).stdout, /^refusals:\n {2}- address: "203\.0\.113\.7"\n/)
      const chosen = yield* run([...command, "--json", "address,count"])
      assert.deepStrictEqual(JSON.parse(chosen.stdout), [
        { address: "203.0.113.7", count: 7 },
        { address: "203.0.113.12", count: 12 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live(
    "ip-allow refusals of a project that refused none is a sentence, and offers nothing for unchecked rules",
    () =>
      Effect.gen(function* () {
        const { plane, run } = yield* signedIn
        const none = yield* run(command)
        assert.deepStrictEqual([none.code, none.stdout], [0, ""])
        assert.strictEqual(none.stderr, "No client was refused in the last 7 days.\n")
        plane.allowlist.refusals.push(refused(7, { reason: "rules_unknown" }))
        const { stderr, stdout } = yield* run(command)
        assert.match(stdout, /rules_unknown/)
        assert.strictEqual(stderr, "")
      }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals reads as many as --limit says, and goes on from --cursor", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      for (let n = 1; n <= 5; n++) plane.allowlist.refusals.push(refused(n))
      const first = yield* run([...command, "--limit", "2"])
      assert.match(first.stderr, /There are more: --limit, or --cursor 2\n$/)
      const rest = yield* run([...command, "--cursor", "2", "--json", "count"])
      assert.deepStrictEqual(JSON.parse(rest.stdout), [{ count: 3 }, { count: 4 }, { count: 5 }])
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals exits with 1 and the sentence of the API, and with 2 without a project", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = ({ path }) => (path.endsWith("/refusals") ? problem("scope_insufficient") : undefined)
      const { code, stderr, stdout } = yield* run(command)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /code: +scope_insufficient/)
      assert.strictEqual((yield* run(["ip-allow", "refusals"])).code, 2)
    }).pipe(Effect.scoped)
  )
})

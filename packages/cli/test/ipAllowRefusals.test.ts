import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { problem } from "../../../test/support/HostedPlane.ts"
import { withShop } from "./support/signedIn.ts"

const proxyToken = "token-of-the-proxy"
/** The last refusal is that of the first client. */
const refused = (n: number, rest: Readonly<Record<string, unknown>> = {}) => ({
  address: `203.0.113.${n}`,
  reason: "address_not_listed",
  count: n,
  first_ms: 3_600_000,
  last_ms: n * 1000,
  ...rest
})

/** A project, and what its proxy does: reporting refused clients. */
const withProxy = Effect.gen(function* () {
  const world = yield* withShop({ proxyToken })
  const { client, endpoint, plane, shop } = world
  let sequence = 0
  return {
    ...world,
    command: ["ip-allow", "refusals", "--project", shop],
    allow: (cidr: string) => Effect.promise(() => client.ipAllow.add({ project_id: shop, cidr })),
    report: (...clients: ReadonlyArray<ReturnType<typeof refused>>) =>
      Effect.promise(() => {
        sequence += 1
        const refusals = clients.map((it) => ({ ...it, endpoint_id: endpoint.id }))
        return plane.product.client(proxyToken).proxy.refusals({ proxy_id: "proxy-1", sequence, refusals })
      })
  }
})

describe("ip-allow refusals", () => {
  it.live("ip-allow refusals prints each refused client, and how to allow the last one", () =>
    Effect.gen(function* () {
      const { allow, branch, client, command, report, run, shop } = yield* withProxy
      const path = { project_id: shop, branch_id: branch.id, access: "read_only" } as const
      const { role } = (yield* Effect.promise(() => client.branches.mint(path))).credential
      yield* allow("192.0.2.0/24")
      yield* report(refused(7, { role }), refused(12))
      const { code, stderr, stdout } = yield* run(command)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^ADDRESS +ENDPOINT +TIMES {2}LAST +REASON +ROLE\n/)
      assert.match(stdout, new RegExp(`\\n203\\.0\\.113\\.7 +ep-\\w+ +7 +\\d{4}-\\S+Z +address_not_listed +${role}\\n`))
      assert.match(stdout, /\n203\.0\.113\.12 +\S+ +12 .* -\n$/)
      assert.strictEqual(stderr, `To allow the last one: narthex ip-allow add 203.0.113.7 --project ${shop}\n`)
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals says that the last address may connect now, and does not offer to allow it", () =>
    Effect.gen(function* () {
      const { allow, client, command, report, run, shop } = yield* withProxy
      yield* report(refused(7), refused(12))
      yield* allow("203.0.113.0/28")
      assert.strictEqual((yield* run(command)).stderr, "The last one, 203.0.113.7, may connect now.\n")
      yield* Effect.promise(() => client.ipAllow.reset({ project_id: shop }))
      assert.strictEqual((yield* run(command)).stderr, "The last one, 203.0.113.7, may connect now.\n")
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals offers nothing when the check of the last address fails, and succeeds", () =>
    Effect.gen(function* () {
      const { allow, command, plane, report, run } = yield* withProxy
      yield* report(refused(7))
      yield* allow("192.0.2.0/24")
      plane.instead = ({ path }) => (path.endsWith("/check") ? problem("scope_insufficient") : undefined)
      const { code, stderr, stdout } = yield* run(command)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(stdout, "203.0.113.7")
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals prints the answer of the API as JSON and YAML, and chosen members", () =>
    Effect.gen(function* () {
      const { client, command, report, run, shop } = yield* withProxy
      yield* report(refused(7), refused(12, { reason: "rules_unknown" }))
      const { stdout } = yield* run([...command, "-o", "json"])
      const answer = yield* Effect.promise(() => client.ipAllow.refusals({ project_id: shop }))
      assert.deepStrictEqual(JSON.parse(stdout), answer)
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
        const { command, report, run } = yield* withProxy
        const none = yield* run(command)
        assert.deepStrictEqual([none.code, none.stdout], [0, ""])
        assert.strictEqual(none.stderr, "No client was refused in the last 7 days.\n")
        yield* report(refused(7, { reason: "rules_unknown" }))
        const { stderr, stdout } = yield* run(command)
        assert.match(stdout, /rules_unknown/)
        assert.strictEqual(stderr, "")
      }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals reads as many as --limit says, and goes on from --cursor", () =>
    Effect.gen(function* () {
      const { command, report, run } = yield* withProxy
      yield* report(...[1, 2, 3, 4, 5].map((n) => refused(n)))
      const first = yield* run([...command, "--limit", "2"])
      const cursor = /There are more: --limit, or --cursor (\S+)\n$/.exec(first.stderr)?.[1] ?? ""
      const rest = yield* run([...command, "--cursor", cursor, "--json", "count"])
      assert.deepStrictEqual(JSON.parse(rest.stdout), [{ count: 3 }, { count: 4 }, { count: 5 }])
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow refusals exits with 1 and the sentence of the API, and with 2 without a project", () =>
    Effect.gen(function* () {
      const { command, plane, run } = yield* withProxy
      plane.instead = ({ path }) => (path.endsWith("/refusals") ? problem("scope_insufficient") : undefined)
      const { code, stderr, stdout } = yield* run(command)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /code: +scope_insufficient/)
      assert.strictEqual((yield* run(["ip-allow", "refusals"])).code, 2)
    }).pipe(Effect.scoped)
  )
})

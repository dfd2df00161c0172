import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { withShop } from "./support/signedIn.ts"

/** A project, with rules for these networks. */
const withRules = (...cidrs: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const world = yield* withShop()
    const { client, plane, shop } = world
    const allow = (cidr: string) => Effect.promise(() => client.ipAllow.add({ project_id: shop, cidr }))
    yield* Effect.forEach(cidrs, allow)
    const rules = Effect.promise(async () => (await client.ipAllow.list({ project_id: shop })).rules)
    const listed = Effect.map(rules, (all) => all.map(({ cidr }) => cidr))
    plane.requests.length = 0
    return { ...world, allow, listed, rules }
  })

describe("ip-allow list", () => {
  it.live("ip-allow list prints the rules, and for an empty list that the project is open", () =>
    Effect.gen(function* () {
      const { allow, run, shop } = yield* withRules()
      const open = yield* run(["ip-allow", "list", "--project", shop])
      assert.deepStrictEqual([open.code, open.stdout], [0, ""])
      assert.match(open.stderr, /accepts connections from every address/)
      for (const cidr of ["10.0.0.0/8", "2001:db8::/32"]) yield* allow(cidr)
      const { stdout } = yield* run(["ip-allow", "list", "--project", shop])
      assert.match(stdout, /^CIDR {11}LABEL {2}EXPIRES {2}CREATED/)
      assert.match(stdout, /\n2001:db8::\/32 {2}- {6}never/)
      const json = JSON.parse((yield* run(["ip-allow", "list", "--project", shop, "-o", "json"])).stdout)
      assert.strictEqual(json.rules[0].created_by.email, "ada@example.com")
    }).pipe(Effect.scoped)
  )

  it.live(
    "ip-allow list without a project exits with 2, and with an unknown one with 1; no path contains its name",
    () =>
      Effect.gen(function* () {
        const { plane, run, shop } = yield* withRules()
        const { code, stderr } = yield* run(["ip-allow", "list"])
        assert.strictEqual(code, 2)
        assert.match(stderr, /^error: No project is given\.\n {2}hint: --project/)
        assert.deepStrictEqual(plane.requests, [])
        for (const name of ["..", "blog", `${shop}/..`])
          assert.strictEqual((yield* run(["ip-allow", "list", "--project", name])).code, 1)
        assert.deepStrictEqual([...new Set(plane.requests.map(({ path }) => path))], ["/v1/projects"])
      }).pipe(Effect.scoped)
  )
})

describe("ip-allow summary", () => {
  it.live("ip-allow summary counts the rules in force, and those that expire", () =>
    Effect.gen(function* () {
      const { run, shop } = yield* withRules("10.0.0.0/8")
      yield* run(["ip-allow", "add", "192.0.2.0/24", "--ttl", "8h", "--project", shop])
      const { code, stdout } = yield* run(["ip-allow", "summary", "--project", shop])
      assert.deepStrictEqual([code, stdout], [0, "rules     2\nexpiring  1\n"])
    }).pipe(Effect.scoped)
  )
})

describe("ip-allow add", () => {
  it.live("ip-allow add sends the network, and a bare address with its prefix", () =>
    Effect.gen(function* () {
      const { listed, rules, run, shop } = yield* withRules("198.51.100.0/24")
      for (const given of ["203.0.113.0/24 ", "192.0.2.9", "\t2001:DB8::1\n"]) {
        const { code, stderr } = yield* run(["ip-allow", "add", given, "--project", shop, "--label", "office"])
        assert.deepStrictEqual([code, stderr], [0, ""])
      }
      assert.deepStrictEqual(yield* listed, ["198.51.100.0/24", "203.0.113.0/24", "192.0.2.9/32", "2001:db8::1/128"])
      assert.strictEqual((yield* rules)[1]?.label, "office")
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow add with host bits prints the network that was meant and sends no request", () =>
    Effect.gen(function* () {
      const { plane, run, shop } = yield* withRules()
      const { code, stderr } = yield* run(["ip-allow", "add", "10.0.0.5/24", "--project", shop])
      assert.strictEqual(code, 2)
      assert.match(stderr, /Did you mean 10\.0\.0\.0\/24/)
      assert.strictEqual((yield* run(["ip-allow", "add", "anywhere", "--project", shop])).code, 2)
      assert.deepStrictEqual(plane.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow add --current adds and prints the address that the API sees", () =>
    Effect.gen(function* () {
      const { listed, run, shop } = yield* withRules()
      const { stderr } = yield* run(["ip-allow", "add", "--current", "--project", shop])
      assert.strictEqual(stderr, "Your address, as the API sees it, is 198.51.100.7.\n")
      assert.deepStrictEqual(yield* listed, ["198.51.100.7/32"])
      assert.strictEqual((yield* run(["ip-allow", "add", "10.0.0.0/8", "--current", "--project", shop])).code, 2)
      assert.strictEqual((yield* run(["ip-allow", "add", "--project", shop])).code, 2)
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow add --current warns if it adds IPv6 to rules for IPv4", () =>
    Effect.gen(function* () {
      const { plane, run, shop } = yield* withRules("203.0.113.0/24")
      plane.instead = ({ path }) =>
        path === "/v1/client-address" ? Response.json({ address: "2001:db8::7" }) : undefined
      const { stderr } = yield* run(["ip-allow", "add", "--current", "--project", shop])
      assert.match(stderr, /warning: 2001:db8::7\/128 is IPv6, but other rules are IPv4/)
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow add warns if the first rule excludes its author", () =>
    Effect.gen(function* () {
      const { run, shop } = yield* withRules()
      const { code, stderr } = yield* run(["ip-allow", "add", "203.0.113.0/24", "--project", shop])
      assert.strictEqual(code, 0)
      assert.match(stderr, /warning: This is the first rule, and it does not include your own address 198\.51\.100\.7/)
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow add warns when the project opens because the last rule expires", () =>
    Effect.gen(function* () {
      const { rules, run, shop } = yield* withRules()
      const { stderr } = yield* run(["ip-allow", "add", "198.51.100.0/24", "--ttl", "8h", "--project", shop])
      const [rule] = yield* rules
      assert.include(stderr, `warning: The last rule expires at ${rule?.expires_at}; after that, every address`)
      assert.strictEqual((yield* run(["ip-allow", "add", "10.0.0.0/8", "--ttl", "soon", "--project", shop])).code, 2)
    }).pipe(Effect.scoped)
  )
})

describe("a rule for every address of one family", () => {
  it.live("ip-allow add and list warn that connections over the other family are refused", () =>
    Effect.gen(function* () {
      const { allow, run, shop } = yield* withRules()
      const added = yield* run(["ip-allow", "add", "0.0.0.0/0", "--project", shop])
      const warning =
        "warning: The rules list every IPv4 address and no IPv6 address: connections over IPv6 are refused. To allow them: narthex ip-allow add ::/0\n"
      assert.deepStrictEqual([added.code, added.stderr], [0, warning])
      assert.strictEqual((yield* run(["ip-allow", "list", "--project", shop])).stderr, warning)
      assert.strictEqual((yield* run(["ip-allow", "add", "::/0", "--project", shop])).stderr, "")
      yield* run(["ip-allow", "reset", "--project", shop, "--yes"])
      yield* allow("::/0")
      const { stderr } = yield* run(["ip-allow", "list", "--project", shop])
      assert.match(stderr, /no IPv4 address: connections over IPv4 are refused\. To allow them: .* add 0\.0\.0\.0\/0$/m)
    }).pipe(Effect.scoped)
  )
})

describe("ip-allow remove", () => {
  it.live("ip-allow remove accepts a network in any notation", () =>
    Effect.gen(function* () {
      const { listed, run, shop } = yield* withRules("10.0.0.0/8", "2001:db8::1/128")
      const { code, stdout } = yield* run(["ip-allow", "remove", "2001:0DB8:0::1", "--project", shop])
      assert.deepStrictEqual([code, stdout], [0, ""])
      assert.deepStrictEqual(yield* listed, ["10.0.0.0/8"])
      assert.strictEqual((yield* run(["ip-allow", "remove", "192.0.2.0/24", "--project", shop])).code, 1)
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow remove never puts an invalid network into a path", () =>
    Effect.gen(function* () {
      const { listed, plane, run, shop } = yield* withRules("10.0.0.0/8")
      for (const given of [".", "..", "", "check", "10.0.0.0/8/.."])
        assert.strictEqual((yield* run(["ip-allow", "remove", given, "--project", shop])).code, 2, given)
      assert.deepStrictEqual(plane.requests, [])
      assert.deepStrictEqual(yield* listed, ["10.0.0.0/8"])
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow remove of the last rule without a terminal warns and exits with 0", () =>
    Effect.gen(function* () {
      const { listed, run, shop } = yield* withRules("10.0.0.0/8")
      const { code, stderr } = yield* run(["ip-allow", "remove", "10.0.0.0/8", "--project", shop])
      assert.strictEqual(code, 0)
      assert.match(stderr, /warning: That was the last rule\./)
      assert.deepStrictEqual(yield* listed, [])
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow remove of the last rule asks on a terminal, and changes nothing without a yes", () =>
    Effect.gen(function* () {
      const { listed, run, shop } = yield* withRules("10.0.0.0/8")
      const remove = ["ip-allow", "remove", "10.0.0.0/8", "--project", shop]
      const no = yield* run(remove, { terminal: true, stdin: "n\n" })
      assert.strictEqual(no.code, 3)
      assert.match(no.stderr, /The project will accept connections from every address\. Continue\? \[y\/N\]/)
      assert.match(no.stderr, /^Nothing was changed\.\n/m)
      assert.notMatch(no.stderr, /error:/)
      const ended = yield* run(remove, { terminal: true })
      assert.strictEqual(ended.code, 3)
      assert.match(ended.stderr, /\[y\/N\] \n$/)
      assert.deepStrictEqual(yield* listed, ["10.0.0.0/8"])
      assert.strictEqual((yield* run(remove, { terminal: true, stdin: "yes\n" })).code, 0)
      assert.deepStrictEqual(yield* listed, [])
    }).pipe(Effect.scoped)
  )
})

describe("ip-allow reset", () => {
  it.live("ip-allow reset without a terminal requires --yes", () =>
    Effect.gen(function* () {
      const { listed, run, shop } = yield* withRules("10.0.0.0/8", "192.0.2.0/24")
      const refused = yield* run(["ip-allow", "reset", "--project", shop])
      assert.strictEqual(refused.code, 2)
      assert.match(refused.stderr, /The project will accept connections from every address\..*\n {2}hint: pass --yes/)
      assert.strictEqual((yield* listed).length, 2)
      assert.strictEqual((yield* run(["ip-allow", "reset", "--project", shop, "--yes"])).code, 0)
      assert.deepStrictEqual(yield* listed, [])
    }).pipe(Effect.scoped)
  )

  it.live("ip-allow reset asks on a terminal, but not with --no-input", () =>
    Effect.gen(function* () {
      const { listed, run, shop } = yield* withRules("10.0.0.0/8")
      const reset = ["ip-allow", "reset", "--project", shop]
      assert.strictEqual((yield* run([...reset, "--no-input"], { terminal: true, stdin: "y\n" })).code, 2)
      assert.strictEqual((yield* run(reset, { terminal: true, stdin: "" })).code, 3)
      assert.strictEqual((yield* listed).length, 1)
      assert.strictEqual((yield* run(reset, { terminal: true, stdin: "y\n" })).code, 0)
      assert.deepStrictEqual(yield* listed, [])
    }).pipe(Effect.scoped)
  )
})

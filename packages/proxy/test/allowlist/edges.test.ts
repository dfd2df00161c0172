/** Boundary cases: the instants at which rules expire, invalid snapshots, and names in unusual places. */
import { assert, describe, it } from "@effect/vitest"
import type { AllowlistSnapshot } from "@narthex/api"
import { ProjectId } from "@narthex/core"
import { compile, expiredSince } from "../../src/allowlist/Allowlist.ts"
import { parseNetwork } from "../../src/networks/Address.ts"
import { NetworkTrie } from "../../src/networks/NetworkTrie.ts"
import { route } from "../../src/opening/route.ts"

const noon = Date.parse("2026-01-01T12:00:00Z")
const at = (seconds: number) => new Date(noon + 1_000 * seconds).toISOString()
const snapshot = (rules: AllowlistSnapshot["rules"], server_now = at(0)) => ({
  project_id: ProjectId.make("prj-a"),
  version: 1,
  rules,
  server_now
})

describe("compile", () => {
  it("a list counts as expired from the earliest expiry of its rules", () => {
    const rules = [30, 10, 20].map((end) => ({ cidr: "10.0.0.0/8", expires_at: at(end) }))
    const list = compile(snapshot(rules), 0)
    assert.isDefined(list)
    assert.deepStrictEqual(
      [0, 9_999, 10_000, 30_000].map((now) => expiredSince(list, now)),
      [false, false, true, true]
    )
  })

  it("a snapshot with rules and an invalid clock is rejected", () => {
    assert.isUndefined(compile(snapshot([{ cidr: "10.0.0.0/8", expires_at: null }], "yesterday"), 0))
  })
})

describe("NetworkTrie", () => {
  it.each([
    [10, 20],
    [20, 10]
  ])("a network that is listed twice expires at the later of %d and %d", (first, second) => {
    const trie = new NetworkTrie()
    const network = parseNetwork("10.0.0.0/8")
    assert.isDefined(network)
    for (const until of [first, second]) trie.add(network.bytes, network.prefix, until)
    assert.strictEqual(trie.coveredUntil(network.bytes), 20)
  })
})

describe("route", () => {
  const id = "ep-01k3z6v9e8q0x5m4c2b7n1r0sd"

  it("options that name no endpoint are relayed unchanged", () => {
    const options = "-c  a=b   -c c=d "
    const routed = route(
      {
        _tag: "Startup",
        version: 0x30000,
        parameters: [
          ["user", `app.${id}`],
          ["options", options]
        ]
      },
      undefined,
      "db.example"
    )
    assert.isTrue(routed._tag === "Success")
    if (routed._tag === "Success") assert.deepInclude(routed.success.startup.parameters, ["options", options])
  })

  it("a host name of another domain of the same length names no endpoint", () => {
    const startup = { _tag: "Startup", version: 0x30000, parameters: [["user", "app"]] } as const
    assert.strictEqual(route(startup, `${id}.local.db.examplf`, "db.example")._tag, "Failure")
    assert.strictEqual(route(startup, `${id}.local.db.example`, "db.example")._tag, "Success")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { twinSuffix } from "@narthex/core"
import { Result } from "effect"
import { protocolOptions, route, upstream } from "../../src/opening/route.ts"
import type { Parameter } from "../../src/wire/startup.ts"

const [a, b] = ["ep-01k3z6v9e8q0x5m4c2b7n1r0sd", "ep-01k3z6v9e8q0x5m4c2b7n1r0se"]

const routed = (parameters: ReadonlyArray<Parameter>, servername?: string) => {
  const result = route({ _tag: "Startup", version: 0x30000, parameters }, servername, "db.example")
  return Result.isSuccess(result)
    ? { to: result.success.endpoint_id as string, with: result.success.startup.parameters }
    : { to: result.failure.reason, with: [] }
}

const user: Parameter = ["user", "app"]

describe("route", () => {
  it.each([
    [`${a}.local.db.example`, a],
    [`${a.toUpperCase()}.Local.DB.example.`, a],
    [`${a}.db.example`, "none"],
    [`${a}.x.local.db.example`, "none"],
    [`${a}.local.other.example`, "none"],
    [`${a}.local.xdb.example`, "none"],
    ["www.local.db.example", "none"],
    ["", "none"]
  ])("the server name %s routes to %s", (name, expected) => {
    assert.strictEqual(routed([user], name).to, expected)
  })

  it.each([
    [`endpoint=${a}`, a, undefined],
    [`-c work_mem=1MB endpoint=${a}  -c geqo=off`, a, "-c work_mem=1MB -c geqo=off"],
    [`-c endpoint=${a}`, a, undefined],
    [`-c application_name=a\\ endpoint=x endpoint=${a}`, a, "-c application_name=a\\ endpoint=x"],
    [`endpoint=${a} endpoint=${a}`, a, undefined],
    [`endpoint=${a} endpoint=${b}`, "contradictory", undefined],
    ["endpoint=", "malformed", undefined],
    ["endpoint=EP-X", "malformed", undefined],
    ["-c work_mem=1MB", "none", undefined]
  ])("the options %s route to %s and are relayed as %s", (options, expected, rest) => {
    const { to, with: parameters } = routed([user, ["options", options]])
    assert.strictEqual(to, expected)
    assert.strictEqual(parameters.find(([name]) => name === "options")?.[1], rest)
  })

  it("the suffix of the user name is removed from the user and from a database that libpq copied from it", () => {
    const suffixed = `j.doe.${a}`
    assert.deepStrictEqual(
      routed([
        ["user", suffixed],
        ["database", suffixed]
      ]),
      {
        to: a,
        with: [
          ["user", "j.doe"],
          ["database", "j.doe"]
        ]
      }
    )
    assert.deepStrictEqual(
      routed([
        ["user", suffixed],
        ["database", "other"]
      ]).with[1],
      ["database", "other"]
    )
    assert.strictEqual(routed([["user", `.${a}`]]).to, "none")
  })

  it("equal names in every place are accepted, and unknown parameters are relayed unchanged", () => {
    const parameters: ReadonlyArray<Parameter> = [
      ["user", `app.${a}`],
      ["options", `endpoint=${a}`],
      ["_pq_.x", "\xff"]
    ]
    assert.deepStrictEqual(routed(parameters, `${a}.local.db.example`), { to: a, with: [user, ["_pq_.x", "\xff"]] })
  })

  it("different names in two places are contradictory", () => {
    assert.strictEqual(routed([["user", `app.${b}`]], `${a}.local.db.example`).to, "contradictory")
    assert.strictEqual(routed([user, ["options", `endpoint=${b}`]], `${a}.local.db.example`).to, "contradictory")
    assert.strictEqual(
      routed([
        ["user", `app.${b}`],
        ["options", `endpoint=${a}`]
      ]).to,
      "contradictory"
    )
  })

  it("the twin of a role has its parameters, and its database where the client names none", () => {
    const twinOf = (...parameters: ReadonlyArray<Parameter>) =>
      upstream({ _tag: "Startup", version: 0x30000, parameters }, "app", true).parameters
    const twin: Parameter = ["user", `app${twinSuffix}`]
    assert.deepStrictEqual(twinOf(["database", "shop"], user, ["geqo", "off"]), [
      twin,
      ["database", "shop"],
      ["geqo", "off"]
    ])
    assert.deepStrictEqual(twinOf(user), [twin, ["database", "app"]])
    assert.deepStrictEqual(twinOf(user, ["database", ""]), [twin, ["database", "app"]])
  })

  it("a compute gets protocol 3.0 without options of the protocol, which the proxy negotiates", () => {
    const startup = { _tag: "Startup", version: 0x30002, parameters: [user, ["_pq_.x", "1"]] } as const
    assert.deepStrictEqual(protocolOptions(startup), ["_pq_.x"])
    assert.deepStrictEqual(upstream(startup, "app", false), { _tag: "Startup", version: 0x30000, parameters: [user] })
  })
})

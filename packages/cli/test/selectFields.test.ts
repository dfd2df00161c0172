import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { selectFields } from "../src/output/selectFields.ts"
import { signedIn } from "./support/signedIn.ts"

describe("--json fields", () => {
  it("a list gives an array with the chosen members of each item", () => {
    const body = { projects: [{ id: "1", name: "a", region: "eu" }], pagination: { next_cursor: null } }
    assert.deepStrictEqual(selectFields(body, ["id", "name"]).value, [{ id: "1", name: "a" }])
    assert.deepStrictEqual(selectFields({ projects: [], pagination: {} }, ["id"]), {
      value: [],
      missing: [],
      known: []
    })
  })

  it("an object gives an object with the chosen members, also if a member of it is a list", () => {
    assert.deepStrictEqual(selectFields({ id: "1", permissions: ["read"], name: "a" }, ["name"]).value, { name: "a" })
    const created = { project: { id: "p" }, branch: { id: "b" }, operations: [] }
    assert.deepStrictEqual(selectFields(created, ["project.id", "branch.id"]).value, {
      "project.id": "p",
      "branch.id": "b"
    })
  })

  it("a member that no item has is null, and is named with those that exist", () => {
    assert.deepStrictEqual(selectFields([{ id: "1" }, { id: "2", label: "x" }], ["label", "nme", "constructor"]), {
      value: [
        { label: null, nme: null, constructor: null },
        { label: "x", nme: null, constructor: null }
      ],
      missing: ["nme", "constructor"],
      known: ["id", "label"]
    })
  })

  it.live("a command with --json prints only the chosen members and warns about those that do not exist", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { code, stderr, stdout } = yield* run(["region", "list", "--json", "region_id,nme"])
      assert.deepStrictEqual([code, JSON.parse(stdout)], [0, [{ region_id: "eu", nme: null }]])
      assert.match(stderr, /^warning: The response has no field nme\. It has region_id, name, /)
      const yaml = yield* run(["region", "list", "--json", "region_id", "-o", "yaml"])
      assert.strictEqual(yaml.stdout, "- region_id: eu\n")
      const empty = yield* run(["region", "list", "--json", ","])
      assert.strictEqual(empty.code, 2)
    }).pipe(Effect.scoped)
  )
})

/** The matrix is complete: every endpoint of the contract, every caller, every object. */
import { assert, describe, it } from "@effect/vitest"
import { Api, policyOf } from "@narthex/api"
import { expected, sidesOf } from "./expectation.ts"
import { matrix } from "./matrix.ts"
import { columns, principals } from "./principals.ts"

const endpoints = Object.entries(Api.groups).flatMap(([group, { endpoints: all }]) =>
  Object.entries(all).map(([name, endpoint]) => ({ name: `${group}.${name}`, endpoint }))
)

describe("the matrix", () => {
  it("the matrix has every endpoint of the contract", () => {
    const calls = new Set(matrix.flatMap(({ calls: all }) => all.map(({ call }) => call)))
    assert.sameMembers(
      [...calls],
      endpoints.map(({ name }) => name)
    )
  })

  it("the matrix has a cell for every column and every object", () => {
    for (const row of matrix) {
      assert.strictEqual(row.cells.split(" ").length, columns.length, `row ${row.row}`)
      for (const call of row.calls)
        for (const principal of principals)
          for (const side of sidesOf(call))
            assert.match(
              expected(row, call, principal, side),
              /^([2acfiknrs]|401|404|409|-)$/,
              `row ${row.row}, ${call.call}, ${principal}, ${side}`
            )
    }
  })

  it("the matrix leaves a cell out only where the design specifies none", () => {
    const out = matrix.flatMap((row) =>
      row.calls.flatMap((call) =>
        principals.filter((principal) => expected(row, call, principal, "own") === "-").map((it) => `${row.row} ${it}`)
      )
    )
    assert.deepStrictEqual(out, ["6 P", "6 X", "6 O", "6 A", "6 M", "6 V"])
  })

  it("row 1 of the matrix holds exactly the endpoints that need no credential", () => {
    const anonymous = endpoints
      .filter(({ endpoint }) => policyOf(endpoint)?._tag === "Anonymous")
      .map(({ name }) => name)
    const [first] = matrix.filter(({ row }) => row === "1").map(({ calls }) => calls.map(({ call }) => call))
    assert.sameMembers(anonymous, first ?? [])
  })
})

/**
 * The page of permissions, which is made from the policies, says what the matrix of docs/design/authorization.md does.
 * The matrix is also called over HTTP, cell by cell (packages/http/test/authorization).
 */
import { assert, describe, it } from "@effect/vitest"
import { matrix } from "../packages/http/test/authorization/matrix.ts"
import { columns } from "../packages/http/test/authorization/principals.ts"
import { permissionRows } from "../scripts/permissions.ts"

const rows = permissionRows()
const order: ReadonlyArray<string> = columns

/** The decision of a cell on an object in the caller's organization and scope, or undefined: the object decides. */
const saidBy = (cell: string | undefined) => {
  const [own = "-"] = (cell ?? "-").replace("*", "").split("/")
  return own === "-" ? undefined : /^[ansikcr]$/.test(own) ? own : "✓"
}

/** The cells of a call in every row of the matrix that has it. */
const cellsOf = (name: string, column: string) =>
  matrix.flatMap(({ calls, cells }) =>
    calls
      .filter(({ call }) => call === name)
      .map(({ except }) => saidBy(except?.[column] ?? cells.split(" ")[order.indexOf(column)]))
  )

describe("the page of permissions", () => {
  for (const { call, cells } of rows)
    if (typeof cells !== "string")
      it(`${call} is as in the matrix`, () => {
        for (const [column, cell] of Object.entries(cells)) {
          const said = cellsOf(call, column)
          assert.isAbove(said.length, 0, `${call} has a row`)
          assert.include([...said, ...(said.includes(undefined) ? [cell] : [])], cell, column)
        }
      })

  it("a call that the matrix refuses to agents' keys for some branches or bodies says for which", () => {
    const partly = rows
      .filter(({ cells }) => typeof cells !== "string" && cells["KA"] === "✓")
      .filter(({ call }) => cellsOf(call, "KA").includes("c"))
    assert.includeMembers(
      partly.map(({ call }) => call),
      ["branches.mint", "endpoints.create", "endpoints.suspend"]
    )
    const silent = partly.filter(({ agent }) => agent === "")
    assert.deepStrictEqual(
      silent.map(({ call }) => call),
      []
    )
  })

  it("calls of the other policies are in the rows that need no permission", () => {
    const outside = rows.flatMap(({ call, cells }) => (typeof cells === "string" ? [call] : []))
    assert.includeMembers(outside, ["auth.exchange", "auth.refresh", "auth.logout"])
  })
})

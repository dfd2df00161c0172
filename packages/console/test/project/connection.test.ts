/** The lines that people paste, and the tree of branches: pure functions. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { branchTree, mainEndpoint } from "../../src/views/project/branchTree.ts"
import { maskedConnection, readConnection, tabNamed, tabs, uriOf } from "../../src/views/project/connection.ts"
import { suspendTimeoutChoices, suspendTimeoutLabel } from "../../src/views/project/lifetimes.ts"
import type { BranchShown, EndpointShown } from "../../src/views/records.ts"

const uri = "postgresql://role_1:p%40ss%27w@db.example.com:5442/postgres?options=endpoint%3Dep-1&sslmode=require"

const linesOf = (id: string, text = uri) => {
  const connection = readConnection(text)
  assert(connection !== null)
  return tabNamed(id).lines(connection)
}

describe("a connection string", () => {
  it("a connection string is read into its parts and written again unchanged", () => {
    const connection = readConnection(uri)
    assert.deepInclude(connection, { user: "role_1", password: "p@ss'w", host: "db.example.com", port: 5442 })
    assert.strictEqual(connection === null ? "" : uriOf(connection), uri.replace("%27", "'"))
  })

  it("text that is no connection string is not read", () => {
    assert.strictEqual(readConnection("soon"), null)
    assert.strictEqual(readConnection(""), null)
  })

  it("an IPv6 address keeps its brackets", () => {
    assert.match(linesOf("env", "postgresql://r:pw@[::1]:5442/postgres"), /@\[::1\]:5442\//)
  })

  it("a shell reads nothing in the line for psql", () => {
    assert.strictEqual(
      linesOf("psql"),
      String.raw`psql 'postgresql://role_1:p%40ss'\''w@db.example.com:5442/postgres?options=endpoint%3Dep-1&sslmode=require'`
    )
  })

  it("the connection string becomes a URL of JDBC with the role in the query", () => {
    assert.strictEqual(
      linesOf("jdbc"),
      "jdbc:postgresql://db.example.com:5442/postgres?user=role_1&password=p%40ss'w&options=endpoint%3Dep-1&sslmode=require"
    )
  })

  it("the lines of every program have the connection string", () => {
    for (const { id } of tabs) assert.include(linesOf(id), "db.example.com:5442", id)
  })

  it("a connection string without a password shows dots and the host of the endpoint", () => {
    const masked = maskedConnection({ host: "ep-1.eu.example.com", port: 5432, connection_template: null })
    assert.strictEqual(
      tabNamed("psql").lines(masked),
      "psql 'postgresql://role:••••••••@ep-1.eu.example.com:5432/postgres'"
    )
  })

  it("a connection string without a password is the string that will work, where the API has its template", () => {
    const connection_template = "postgresql://{role}:{password}@127.0.0.1:5442/postgres?options=endpoint%3Dep-1"
    const masked = maskedConnection({ host: "ep-1.eu.localhost", port: 5442, connection_template })
    assert.strictEqual(
      tabNamed("psql").lines(masked),
      "psql 'postgresql://role:••••••••@127.0.0.1:5442/postgres?options=endpoint%3Dep-1'"
    )
    assert.deepStrictEqual(masked.parameters, [["options", "endpoint=ep-1"]])
  })

  it("an unknown tab is the first", () => assert.strictEqual(tabNamed("cobol").id, "psql"))
})

// Only what the functions read.
const branch = (id: string, parent_id: string | null, day: number, more: object = {}) =>
  ({
    id,
    parent_id,
    default: false,
    created_at: DateTime.makeUnsafe(Date.UTC(2026, 0, day)),
    ...more
  }) as unknown as BranchShown

describe("the tree of branches", () => {
  const order = (branches: ReadonlyArray<BranchShown>) =>
    branchTree(branches).map((it) => `${it.depth} ${it.branch.id}`)

  it("the tree has every branch below the one it was copied from, the default first, then the oldest", () => {
    const branches = [
      branch("try", "dev", 4),
      branch("late", "main", 3),
      branch("dev", "main", 2),
      branch("orphan", "gone", 1),
      branch("main", null, 5, { default: true })
    ]
    assert.deepStrictEqual(order(branches), ["0 main", "1 dev", "2 try", "1 late", "0 orphan"])
  })

  it("the main endpoint of a branch is its read-write endpoint, else any endpoint", () => {
    // Only what the function reads.
    const endpoint = (id: string, branch_id: string, type: string) =>
      ({ id, branch_id, type }) as unknown as EndpointShown
    const endpoints = [
      endpoint("r", "main", "read_only"),
      endpoint("w", "main", "read_write"),
      endpoint("x", "dev", "read_only")
    ]
    assert.strictEqual(mainEndpoint("main", endpoints)?.id, "w")
    assert.strictEqual(mainEndpoint("dev", endpoints)?.id, "x")
    assert.strictEqual(mainEndpoint(null, endpoints), undefined)
  })
})

describe("a time-out", () => {
  it("a time-out outside the choices is one more choice, so that saving the form does not change it", () => {
    assert.strictEqual(suspendTimeoutLabel(-1), "never")
    assert.deepStrictEqual(suspendTimeoutChoices(77)[0], { value: "77", label: "77 seconds" })
    assert.lengthOf(suspendTimeoutChoices(77), suspendTimeoutChoices(300).length + 1)
  })
})

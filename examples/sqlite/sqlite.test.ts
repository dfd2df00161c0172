/** The contracts of all storage ports, and the whole core, on SQLite. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { AccountStore, OperationStore, StorageError } from "@narthex/core"
import { anOrganization, runStorageContracts } from "@narthex/core/testing"
import { Effect } from "effect"
import * as vitest from "vitest"
import { eventually } from "../../test/harness/eventually.ts"
import { embeddedOn, program } from "./embedOnSqlite.ts"
import { sqliteStorage } from "./src/sqliteStorage.ts"

runStorageContracts(vitest, "SQLite", sqliteStorage(":memory:"))

const file = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-sqlite-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true }))
  ),
  (path) => join(path, "narthex.sqlite")
)

describe("the core on SQLite", () => {
  it.live("a process finds the project that an earlier one created, and its operations", () =>
    Effect.gen(function* () {
      const path = yield* file
      const first = yield* Effect.provide(
        Effect.gen(function* () {
          const found = yield* program
          const store = yield* OperationStore
          yield* eventually(
            "the operations of the project to finish",
            Effect.map(
              store.list(found.id, {}, { limit: 10, after: null }),
              ({ items }) => items.length > 0 && items.every(({ status }) => status === "finished")
            )
          )
          return found
        }),
        embeddedOn(path),
        { local: true }
      )
      assert.isFalse(first.known)
      const second = yield* Effect.provide(program, embeddedOn(path), { local: true })
      assert.deepStrictEqual(second, { id: first.id, known: true })
    })
  )

  it.live("a row that cannot be read fails as storage, and names its table", () =>
    Effect.gen(function* () {
      const path = yield* file
      const organization = anOrganization()
      const read = Effect.flatMap(AccountStore, (store) => store.findOrganization(organization.id))
      const storing = Effect.flatMap(AccountStore, (store) => store.putOrganization(organization))
      yield* Effect.provide(storing, sqliteStorage(path), { local: true })
      const database = new DatabaseSync(path)
      database.exec("update organization set doc = '{}'")
      database.close()
      const failure = yield* Effect.flip(Effect.provide(read, sqliteStorage(path), { local: true }))
      assert.instanceOf(failure, StorageError)
      assert.strictEqual(failure.message, "Storage failed in organization.")
    })
  )
})

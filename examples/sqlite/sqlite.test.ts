/** The contracts of all storage ports, and a control plane, on SQLite. */
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { AccountStore, StorageError } from "@narthex/core"
import { anOrganization, runStorageContracts } from "@narthex/core/testing"
import { Effect } from "effect"
import * as vitest from "vitest"
import { controlPlaneOn, program } from "./embedOnSqlite.ts"
import { sqliteStorage } from "./src/sqliteStorage.ts"

runStorageContracts(vitest, "SQLite", sqliteStorage(":memory:"))

const inFolder = async (work: (file: string) => Promise<void>) => {
  const folder = await mkdtemp(join(tmpdir(), "narthex-sqlite-"))
  await work(join(folder, "narthex.sqlite")).finally(() => rm(folder, { recursive: true }))
}

/** 32 bytes, as a host keeps them. */
const aSecret = () => randomBytes(32).toString("base64url")

describe("a control plane on SQLite", () => {
  it("a process finds the project that an earlier one created, and accepts its key and its session", () =>
    inFolder(async (file) => {
      const secret = aSecret()
      const earlier = async () => {
        await using cp = await controlPlaneOn(file, secret)
        const { client, known, project, session } = await program(cp)
        assert.isFalse(known)
        for (const { id } of (await client.operations.list({ project_id: project.id })).operations)
          assert.strictEqual((await cp.operations.waitFor(id)).status, "finished")
        const key = await client.apiKeys.create({ name: "ci", capability: "read", scope: `project:${project.id}` })
        return { key: key.secret ?? assert.fail("The key has no secret."), project, session }
      }
      const { key, project, session } = await earlier()

      await using cp = await controlPlaneOn(file, secret)
      const found = await program(cp)
      assert.deepStrictEqual([found.known, found.project.id], [true, project.id])
      const caller = await cp.authenticate(key)
      await caller.require("read", { project_id: project.id })
      assert.strictEqual(caller.user.email, "ada@example.com")
      assert.strictEqual((await cp.client(session).auth.whoami()).user.email, "ada@example.com")
    }))

  it("a process with another secret does not start, because it could not check sessions", () =>
    inFolder(async (file) => {
      await (await controlPlaneOn(file, aSecret())).close()
      const refused = await controlPlaneOn(file, aSecret()).catch((error: unknown) => error)
      assert.deepInclude(refused, { code: "invalid_options" })
    }))

  it("a row that cannot be read fails as storage, and names its table", () =>
    inFolder(async (path) => {
      const organization = anOrganization()
      const read = Effect.flatMap(AccountStore, (store) => store.findOrganization(organization.id))
      const storing = Effect.flatMap(AccountStore, (store) => store.putOrganization(organization))
      await Effect.runPromise(Effect.provide(storing, sqliteStorage(path), { local: true }))
      const database = new DatabaseSync(path)
      database.exec("update organization set doc = '{}'")
      database.close()
      const failure = await Effect.runPromise(Effect.flip(Effect.provide(read, sqliteStorage(path), { local: true })))
      assert.instanceOf(failure, StorageError)
      assert.strictEqual(failure.message, "Storage failed in organization.")
    }))
})

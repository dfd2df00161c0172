/** Runs the programs that embed the core, in memory and on a real Postgres. */
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Authentication } from "@narthex/core"
import { EmbeddedPostgres } from "@narthex/local-postgres"
import { Effect, Layer, Redacted } from "effect"
import { useClusterTemplates } from "../packages/local-postgres/testing/clusterTemplates.ts"
import * as InMemory from "./embedInMemory.ts"
import * as OnPostgres from "./embedOnPostgres.ts"

const dataDir = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-example-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** An empty, real Postgres. */
const Postgres = Layer.unwrap(
  Effect.gen(function* () {
    const path = yield* dataDir
    yield* Effect.promise(() => useClusterTemplates(path, "default"))
    return EmbeddedPostgres.layer({ dataDir: path })
  })
)

describe("the core in a program", () => {
  it.live("the core in memory signs in, follows the creation of a project, and creates a key that reads it", () =>
    Effect.gen(function* () {
      const { caller, events, key, project } = yield* InMemory.program
      assert.strictEqual(project.org_id, caller.org_id)
      assert.deepStrictEqual(
        events.map(({ data }) => data["status"]),
        ["scheduling", "running", "finished"]
      )
      assert.strictEqual(key.kind, "api_key")
      assert.strictEqual(key.user.email, "ada@example.com")
    }).pipe(Effect.provide(InMemory.embedded))
  )

  it.live("the core on Postgres finds the state and accepts the tokens of an earlier process", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedPostgres
      const master = Redacted.make(randomBytes(32).toString("base64url"))
      const process = <A, E>(work: Effect.Effect<A, E, Layer.Success<ReturnType<typeof OnPostgres.embeddedOn>>>) =>
        Effect.provide(work, OnPostgres.embeddedOn({ master, url }), { local: true })

      const first = yield* process(OnPostgres.program("shop"))
      assert.isFalse(first.known)
      assert.isFalse(first.allowed)

      const second = yield* process(
        Effect.gen(function* () {
          const found = yield* OnPostgres.program("shop")
          const { authenticate } = yield* Authentication
          return { ...found, caller: yield* authenticate(first.token, null) }
        })
      )
      assert.isTrue(second.known)
      assert.strictEqual(second.project.id, first.project.id)
      assert.strictEqual(second.caller.user.email, "ada@example.com")
    }).pipe(Effect.provide(Postgres))
  )
})

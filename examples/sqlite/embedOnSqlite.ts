/**
 * The core in your own program on a SQLite file: sign in, and create a project unless there is one.
 *
 *     node --conditions=source examples/sqlite/embedOnSqlite.ts
 */
import { randomBytes } from "node:crypto"
import * as Core from "@narthex/core"
import { Console, DateTime, Effect, Layer, Redacted } from "effect"
import { sqliteStorage } from "./src/sqliteStorage.ts"

const ada: Core.VerifiedIdentity = {
  provider: "memory",
  issuer: "https://memory.invalid",
  subject: "ada",
  email: "ada@example.com",
  email_verified: true,
  name: null,
  token_digest: "the token of ada",
  expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
}

/** The services on a file, and the runner that performs operations. Keys and tokens outlive the process if these do. */
export const embeddedOn = (path: string) =>
  Core.layerRunner.pipe(
    Layer.provideMerge(Core.layerServices),
    Layer.provideMerge(Layer.merge(sqliteStorage(path), Core.TokenSigner.layerMemory)),
    Layer.provideMerge(
      Layer.mergeAll(
        Core.layerMemoryComputes,
        Core.KeyDigester.layer({ id: "1", key: Redacted.make(new Uint8Array(randomBytes(32))) }),
        Core.IdentityProvider.layerMemory(new Map([["ada", ada]]))
      )
    )
  )

/** Creates a project, or finds the one that an earlier process created. */
export const program = Effect.gen(function* () {
  yield* (yield* Core.RegionCatalog).seed([Core.RegionId.make("local")])
  yield* (yield* Core.EventFeed).ready
  const signIn = { id_token: Redacted.make("ada"), provider: null, nonce: null }
  const session = yield* (yield* Core.Sessions).exchange(signIn, { user_agent: null, address: "127.0.0.1" })
  const caller = yield* (yield* Core.Authentication).authenticate(session.access_token, "127.0.0.1")

  const projects = yield* Core.Projects
  const [known] = (yield* projects.list(caller, { limit: 1, after: null })).items
  if (known !== undefined) {
    yield* Console.log(`found ${known.id}`)
    return { id: known.id, known: true }
  }
  // Services do not authorize their callers: the host must decide first.
  yield* (yield* Core.Authorization).admit(Core.changes("write", "create_projects", "none"), caller, {})
  const { project } = yield* projects.create(caller, { name: "shop", region: null })
  yield* Console.log(`created ${project.id}`)
  return { id: project.id, known: false }
})

if (import.meta.main) await Effect.runPromise(Effect.provide(program, embeddedOn("narthex.sqlite")))

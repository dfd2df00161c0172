/** The core with all state in memory, for a worker: it signs a person in, creates a project and authenticates a key. */
import * as Core from "@narthex/core"
import { DateTime, Effect, Layer, Redacted } from "effect"

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

const outside = Layer.mergeAll(
  Core.layerMemoryComputes,
  Core.KeyDigester.layer({ id: "1", key: Redacted.make(crypto.getRandomValues(new Uint8Array(32))) }),
  Core.IdentityProvider.layerMemory(new Map([["ada", ada]]))
)

const platform = Core.layerServices.pipe(
  Layer.provideMerge(Layer.merge(Core.layerMemoryPorts, Core.TokenSigner.layerMemory)),
  Layer.provideMerge(outside)
)

const program = Effect.gen(function* () {
  yield* (yield* Core.RegionCatalog).seed([Core.RegionId.make("local")])
  const exchange = { id_token: Redacted.make("ada"), provider: null, nonce: null }
  const session = yield* (yield* Core.Sessions).exchange(exchange, { user_agent: null, address: "127.0.0.1" })
  const { authenticate } = yield* Core.Authentication
  const caller = yield* authenticate(session.access_token, "127.0.0.1")
  if (caller.kind !== "session") return yield* Effect.die(new Error("The caller is not a session."))
  const { project } = yield* (yield* Core.Projects).create(caller, { name: "shop", region: null })
  const { secret } = yield* (yield* Core.ApiKeys).create(caller, {
    name: "ci",
    capability: "read",
    scope: { type: "project", project_id: project.id },
    expires_in_days: 90
  })
  const key = yield* authenticate(secret, null)
  return { email: session.user.email, project: project.name, key: key.kind }
})

export const run = () => Effect.runPromise(Effect.provide(program, platform))

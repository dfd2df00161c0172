/**
 * The whole core on a new database, for races.
 *
 * The connections are opened beforehand, because a pool that still grows serves parallel calls one after another and
 * would hide the races. No runner performs operations unless the test starts one. Transactions can be held before their
 * COMMIT, see `inOrder.ts`.
 */
import { randomBytes } from "node:crypto"
import {
  ApiKeys,
  Authentication,
  type Capability,
  type ComputeDriver,
  IdentityProvider,
  KeyDigester,
  layerMemoryComputes,
  layerSecretSealer,
  layerServices,
  type OrgId,
  ProviderView,
  RegionCatalog,
  RegionId,
  type SessionCaller,
  Sessions,
  TokenSigner
} from "@narthex/core"
import { Database, migrate, PostgresStorage } from "@narthex/postgres"
import { DateTime, Effect, Layer, Redacted, References } from "effect"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import { layerHeld } from "./inOrder.ts"

const connections = 24

/** Accepts an id token that is an email address. */
const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "test", name: "Test", issuer: "https://issuer.test" })],
  verify: ({ id_token }) =>
    Effect.succeed({
      provider: "test",
      issuer: "https://issuer.test",
      subject: Redacted.value(id_token),
      email: Redacted.value(id_token),
      email_verified: true,
      name: null,
      token_digest: randomBytes(16).toString("hex"),
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
})

const prepared = Layer.effectDiscard(
  Effect.gen(function* () {
    const { query } = yield* Database
    // Long enough that each needs a separate connection.
    const held = query("open", "select pg_sleep(0.2)::text")
    yield* Effect.all(
      Array.from({ length: connections }, () => held),
      { concurrency: "unbounded" }
    )
    yield* (yield* RegionCatalog).seed([RegionId.make("local")])
  })
)

const storage = (url: Redacted.Redacted) =>
  prepared.pipe(
    Layer.provideMerge(PostgresStorage.layer),
    Layer.provideMerge(Layer.effectDiscard(migrate)),
    Layer.provideMerge(layerHeld),
    Layer.provide(Database.layer({ url, maxConnections: connections, applicationName: "narthex-races" }))
  )

const outside = Layer.mergeAll(
  Believer,
  layerSecretSealer(Redacted.make(new Uint8Array(randomBytes(32)))),
  KeyDigester.layer({ id: "test", key: Redacted.make(new Uint8Array(randomBytes(32))) }),
  Layer.succeed(References.MinimumLogLevel, "None")
)

/** On an empty database, with the given computes. */
export const worldAt = <E, R>(url: Redacted.Redacted, computes: Layer.Layer<ComputeDriver, E, R>) =>
  layerServices.pipe(
    Layer.provideMerge(TokenSigner.layerMemory),
    Layer.provideMerge(storage(url)),
    Layer.provideMerge(outside),
    Layer.provideMerge(computes)
  )

export const worldWith = <E, R>(computes: Layer.Layer<ComputeDriver, E, R>) =>
  Layer.unwrap(
    Effect.flatMap(PostgresServer, ({ migrated }) => Effect.map(migrated, (url) => worldAt(url, computes)))
  ).pipe(Layer.provide(PostgresServer.layer))

export const world = worldWith(layerMemoryComputes)

const device = { user_agent: null, address: null }

export const exchange = (email: string) =>
  Effect.flatMap(Sessions, ({ exchange }) =>
    exchange({ id_token: Redacted.make(email), provider: null, nonce: null }, device)
  )

export const authenticate = (credential: Redacted.Redacted) =>
  Effect.flatMap(Authentication, (it) => it.authenticate(credential, null))

/** Signs a person in, with their personal organization active. */
export const signIn = (email: string): Effect.Effect<SessionCaller, never, Sessions | Authentication> =>
  Effect.gen(function* () {
    const caller = yield* authenticate((yield* exchange(email)).access_token)
    return caller.kind === "session" ? caller : yield* Effect.die(new Error("A session was expected."))
  }).pipe(Effect.orDie)

/** A new key of the owner, as a caller. */
export const withKey = (owner: SessionCaller, org: OrgId, capability: Capability) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const wanted = { name: "k", capability, scope: { type: "organization" as const }, expires_in_days: null }
    const { secret } = yield* keys.create({ ...owner, org_id: org }, wanted)
    return yield* authenticate(secret)
  })

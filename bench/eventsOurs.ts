/**
 * Narthex: the whole API on storage in memory or on Postgres. Streams are authenticated; events pass a transaction, the log
 * and the ring.
 */
import { randomBytes } from "node:crypto"
import {
  AccessPolicy,
  defaultEventSettings,
  EventSettings,
  IdentityProvider,
  KeyDigester,
  layerMemoryComputes,
  layerMemoryPorts,
  layerServices,
  OrgId,
  ProviderView,
  RegionCatalog,
  RegionId,
  TokenSigner,
  Transaction
} from "@narthex/core"
import { Draining, layerApiServer, RateLimits } from "@narthex/http"
import { Database, migrate, PostgresStorage } from "@narthex/postgres"
import { DateTime, Duration, Effect, Layer, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import type { Served } from "./eventsProtocol.ts"
import { sampleData, sampleSource, sampleType } from "./eventsSample.ts"

const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "bench", name: "Bench", issuer: "https://issuer.test" })],
  verify: ({ id_token }) =>
    Effect.succeed({
      provider: "bench",
      issuer: "https://issuer.test",
      subject: Redacted.value(id_token),
      email: Redacted.value(id_token),
      email_verified: true,
      name: null,
      token_digest: Redacted.value(id_token),
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
})

const references = Layer.mergeAll(
  Layer.succeed(References.MinimumLogLevel, "None"),
  Layer.succeed(AccessPolicy, { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }),
  Layer.succeed(RateLimits, null),
  Layer.succeed(EventSettings, { ...defaultEventSettings, limits: null })
)

type Storage = Layer.Layer<Layer.Success<typeof PostgresStorage.layer>, unknown>

const apiOn = (storage: Storage) =>
  layerApiServer({ host: "127.0.0.1", port: 0, grace: Duration.seconds(1) }).pipe(
    Layer.provideMerge(layerServices),
    Layer.provideMerge(Draining.layer),
    Layer.provideMerge(TokenSigner.layerMemory),
    Layer.provideMerge(storage),
    Layer.provideMerge(
      Layer.mergeAll(
        Believer,
        layerMemoryComputes,
        KeyDigester.layer({ id: "bench", key: Redacted.make(new Uint8Array(randomBytes(32))) })
      )
    ),
    Layer.provideMerge(references)
  )

const database = (folder: string, name: string, maxConnections: number) => {
  const url = Redacted.make(`postgresql:///${name}?host=${encodeURIComponent(folder)}&user=app`)
  return Database.layer({ url, maxConnections, applicationName: "narthex-bench" })
}

/** A database of its own on the cluster whose socket is in this folder. */
const storageOnPostgres = (folder: string): Storage => {
  const name = `events_${process.pid}`
  const created = Layer.effectDiscard(
    Effect.flatMap(Database, ({ query }) => query("bench", `create database ${name}`))
  ).pipe(Layer.provide(Layer.fresh(database(folder, "postgres", 1))))
  const seeded = Layer.effectDiscard(Effect.flatMap(RegionCatalog, (catalog) => catalog.seed([RegionId.make("local")])))
  return seeded.pipe(
    Layer.provideMerge(PostgresStorage.layer),
    Layer.provide(Layer.effectDiscard(migrate)),
    Layer.provide(database(folder, name, 6)),
    Layer.provide(created),
    Layer.provide(references)
  )
}

const signIn = async (port: number, email: string) => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/auth/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id_token: email })
  })
  const body = await response.json()
  return { token: String(body.access_token), org: OrgId.make(body.organization.id) }
}

/** Runs until the process exits. `socket`: the folder of the socket of a Postgres; left out, the storage is in memory. */
export const serveOurs = (organizations: number, serve: (served: Served) => void, socket?: string) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const { emit, run } = yield* Transaction
    const port = "port" in address ? address.port : 0
    const members = yield* Effect.forEach(Array.from({ length: organizations }), (_, at) =>
      Effect.promise(() => signIn(port, `user-${at}@example.com`))
    )
    let n = 0
    const commit = (events: number) =>
      Effect.gen(function* () {
        for (const { org } of members)
          for (let event = 0; event < events; event++) {
            n += 1
            const sample = { type: sampleType, source: sampleSource, data: sampleData(n) }
            yield* emit({ ...sample, org_id: org, project_id: null, internal: false })
          }
      })
    const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
    serve({
      up: { port, tokens: members.map(({ token }) => token) },
      publish: (events) => runPromise(run(commit(events)))
    })
    return yield* Effect.never
  }).pipe(Effect.provide(apiOn(socket === undefined ? layerMemoryPorts : storageOnPostgres(socket))), Effect.runPromise)

/** Servers that an operator runs, static computes on them, and roles that are minted there. */
import { type ComputeRole, makeRoleSecret } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import postgres from "postgres"
import { PostgresServer } from "../../../../postgres/test/support/PostgresServer.ts"
import { testDatabase } from "../../../../postgres/test/support/TestDatabase.ts"
import { layerStaticComputes } from "../../../src/adapters/staticComputes.ts"

/** A server that the operator runs, apart from that of the store: roles belong to whole servers. */
const operated = Effect.map(Layer.build(Layer.fresh(PostgresServer.layerOwn)), (context) => {
  const { url } = Context.get(context, PostgresServer)
  return url("postgres")
})

export class Servers extends Context.Service<Servers, ReadonlyArray<Redacted.Redacted>>()("test/Servers") {}

export const machines = (count: number) =>
  Layer.effect(
    Servers,
    Effect.forEach(
      Array.from({ length: count }, (_, at) => at),
      () => operated,
      { concurrency: "unbounded" }
    )
  )

export const driver = Layer.unwrap(
  Effect.map(Servers, (urls) =>
    layerStaticComputes(urls.map((admin_url, at) => ({ address: `db-${at}:5432`, admin_url, tls: null })))
  )
).pipe(Layer.provideMerge(testDatabase))

export const mint = Effect.fnUntraced(function* (access: ComputeRole["access"]) {
  const { password, role, verifier } = yield* makeRoleSecret
  return { password, minted: { role, verifier, access, expires_at: Option.none() } satisfies ComputeRole }
})
export type Minted = Effect.Success<ReturnType<typeof mint>>

export const sessionOf = (admin: Redacted.Redacted, { minted, password }: Minted) => {
  const url = new URL(Redacted.value(admin))
  return postgres({
    host: url.searchParams.get("host") ?? url.hostname,
    port: Number(url.port || 5432),
    database: "postgres",
    username: minted.role,
    password: Redacted.value(password),
    max: 1,
    connect_timeout: 30,
    onnotice: () => undefined
  })
}

/** Statements of the operator. */
export const operator = (url: Redacted.Redacted) =>
  Effect.map(
    Layer.build(Layer.fresh(Database.layer({ url, maxConnections: 1, listenUrl: "off", applicationName: "operator" }))),
    (context) => Context.get(context, Database)
  )

/** The SQLSTATE with which a promise was rejected, or what was answered. */
export const outcome = (work: Promise<unknown>) =>
  Effect.promise(() =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof postgres.PostgresError ? error.code : String(error))
    )
  )

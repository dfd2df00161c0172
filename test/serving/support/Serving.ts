/**
 * The things that the instances of one platform share: a database, an issuer, and the secrets of their settings. Every
 * listener takes a free port.
 */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, Redacted } from "effect"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import { resource } from "../../harness/resource.ts"
import { clientId, type Issuer, makeIssuer } from "./Issuer.ts"
import type { Environment } from "./Program.ts"

const secret = () => randomBytes(32).toString("base64url")

/** Tokens are visible in what must not show them, so tests look for these. */
export const freshSecrets = () => ({
  NARTHEX_MASTER_SECRET: secret(),
  NARTHEX_CONSOLE_TOKEN: secret(),
  NARTHEX_PROXY_TOKEN: secret()
})

export class Serving extends Context.Service<
  Serving,
  {
    readonly database: Redacted.Redacted<string>
    readonly issuer: Issuer
    /** The settings of every instance. */
    readonly environment: Environment & ReturnType<typeof freshSecrets> & { readonly DATABASE_URL: string }
  }
>()("@narthex/test/serving/Serving") {
  /** With the programs built, and a database that nothing has migrated yet. */
  static readonly layer: Layer.Layer<Serving | PostgresServer> = Layer.effect(
    Serving,
    Effect.gen(function* () {
      yield* Effect.promise(() => resource("build"))
      const database = yield* (yield* PostgresServer).database
      const issuer = yield* makeIssuer
      const provider = { id: "test", name: "Test", issuer: issuer.url, client_ids: [clientId] }
      return {
        database,
        issuer,
        environment: {
          ...freshSecrets(),
          DATABASE_URL: Redacted.value(database),
          NARTHEX_PROVIDERS: JSON.stringify([provider]),
          NARTHEX_COMPUTE: "memory",
          NARTHEX_SHUTDOWN_GRACE: "2 seconds",
          NARTHEX_API_PORT: "0",
          NARTHEX_CONSOLE_PORT: "0",
          NARTHEX_PROXY_PORT: "0",
          NARTHEX_ADMIN_PORT: "0"
        }
      }
    })
  ).pipe(Layer.provideMerge(PostgresServer.layer))
}

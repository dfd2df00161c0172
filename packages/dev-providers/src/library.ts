/** The library that speaks OpenID Connect, for one issuer. Its refusals have the form of the API's problems. */
import type { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import Provider from "oidc-provider"
import type { RecentAccounts } from "./DevAccount.ts"
import type { DevClient } from "./DevClient.ts"
import { issuerConfiguration } from "./issuerConfiguration.ts"
import { Refusal } from "./problem.ts"
import type { SigningKey } from "./SigningKey.ts"

export interface LibraryOptions {
  readonly id: string
  readonly client: DevClient
  readonly key: SigningKey
  readonly accounts: RecentAccounts
  /** Logs what the library reports. */
  readonly log: (cause: unknown) => void
}

export interface Library {
  readonly provider: Provider
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

export const makeLibrary = ({ accounts, client, id, key, log }: LibraryOptions, issuer: string): Library => {
  const provider = new Provider(issuer, issuerConfiguration(id, client, key, accounts))
  provider.on("server_error", (_ctx, cause) => log(cause))
  const framework: EventEmitter = provider // an event that the types of the library lack
  framework.on("error", log) // without a listener the library prints errors itself
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.status !== 404 || (ctx.body !== undefined && ctx.body !== null)) return
    const refusal = new Refusal({ code: "not_found", detail: `There is no ${ctx.path} at this provider.` })
    ctx.status = refusal.status
    ctx.type = "application/problem+json"
    ctx.body = refusal.body
  })
  return { provider, answer: provider.callback() }
}

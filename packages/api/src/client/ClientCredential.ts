/**
 * What one call of the client is made with, where it differs from the client's own: a server that acts for many people,
 * like the console, has one client and gives each call its credential.
 */
import { Context, type Redacted } from "effect"

/** The bearer credential of the running call; `undefined`: the client's own. */
export const ClientCredential = Context.Reference<Redacted.Redacted | undefined>("@narthex/api/ClientCredential", {
  defaultValue: () => undefined
})

/** Headers that the running call sends beside the contract's: `idempotency-key`, `x-request-id`, the console's own. */
export const ClientHeaders = Context.Reference<Readonly<Record<string, string>>>("@narthex/api/ClientHeaders", {
  defaultValue: () => ({})
})

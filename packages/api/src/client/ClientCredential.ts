/**
 * The credential and headers of a single call, where they differ from the client's own. A server that acts for many
 * people, like the console, has one client and gives each call its credential.
 */
import { Context, type Redacted } from "effect"

/** The bearer credential of the running call; `undefined`: the client's own is sent. */
export const ClientCredential = Context.Reference<Redacted.Redacted | undefined>("@narthex/api/ClientCredential", {
  defaultValue: () => undefined
})

/** Additional headers of the running call: `idempotency-key`, `x-request-id`, those of the console. */
export const ClientHeaders = Context.Reference<Readonly<Record<string, string>>>("@narthex/api/ClientHeaders", {
  defaultValue: () => ({})
})

/**
 * The requester that storage work of a request is counted for: its credential, or, until that is verified, the address
 * of its client (docs/design/api.md A33).
 */
import { Context } from "effect"
import { machineOf } from "../../records/limits/clientNetwork.ts"
import type { AnyCaller } from "./Principal.ts"

/** `null`: the platform's own work, and calls of a host and of proxies, which are not counted. */
export const Requester = Context.Reference<string | null>("@narthex/core/rules/authorization/Requester", {
  defaultValue: () => null
})

/** A session or an API key. */
export const requesterOf = (caller: AnyCaller): string =>
  caller.kind === "session" ? caller.session_id : caller.api_key_id

/** The requester of a request whose credential has not been verified. Clients whose address cannot be read are one. */
export const requesterAt = (address: string | null): string => machineOf(address ?? "unknown")

/**
 * AUTHENTICATE and the later stages for minted roles. The proxy checks the proof, and logs in with the key that it
 * shows.
 */

import { withKeys } from "../compute/logIn.ts"
import {
  bindingMismatch,
  Hangup,
  malformedExchange,
  notAuthenticated,
  type Refusal,
  replicationUnsupported,
  tooMany,
  unknownDatabase,
  unsupportedExchange,
  wrongPassword
} from "../outcomes/Refusal.ts"
import type { Proof } from "../scram/ScramServer.ts"
import { decoyOf, parseVerifier, type Verifier } from "../scram/Verifier.ts"
import { encodeWarning } from "../wire/ErrorResponse.ts"
import { encodeStartup, parameter, type Startup } from "../wire/startup.ts"
import { authenticate, type Unproved } from "./authenticate.ts"
import { type Allowed, type Asker, renew } from "./locate.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"
import { entered, openSession } from "./openSession.ts"
import { upstream } from "./route.ts"

const left = new Hangup({ event: "client_left" })

/** AUTHENTICATE and the later stages. No password succeeds for a role without a verifier. */
export const proveRole = (client: OpeningConnection, asker: Asker, allowed: Allowed, text: string | undefined) => {
  const { decoySecret, limiter } = client.shared
  const { endpoint_id, peer, user } = asker
  if (!limiter.mayProve(endpoint_id, peer)) return client.end(tooMany("failures"))
  const known = text === undefined ? undefined : parseVerifier(text)
  const verifier = known ?? decoyOf(decoySecret, `${endpoint_id} ${user}`)
  client.late = notAuthenticated()
  return authenticate(client, verifier, (outcome) => {
    if (typeof outcome === "object" && known !== undefined) return proved(client, asker, allowed, known, outcome)
    if (outcome !== "left") limiter.failed(endpoint_id, peer)
    return client.end(typeof outcome === "object" ? wrongPassword(user) : unproved(user, outcome))
  })
}

const unproved = (user: string, why: Unproved): Refusal | Hangup => {
  switch (why) {
    case "left":
      return left
    case "malformed":
      return malformedExchange()
    case "unsupported":
      return unsupportedExchange()
    case "binding_mismatch":
      return bindingMismatch()
    case "wrong_password":
      return wrongPassword(user)
  }
}

/**
 * LIMIT and the later stages. The control plane is asked again, unless it has just answered: the role may have ended,
 * and the endpoint may be elsewhere.
 */
const proved = (
  client: OpeningConnection,
  asker: Asker,
  before: Allowed,
  { serverKey }: Verifier,
  { clientKey, text }: Proof
) => {
  client.proved()
  if (!client.watch()) return
  const { startup, user } = asker
  if (isReplication(startup)) return client.end(replicationUnsupported())
  const database = parameter(startup, "database") || user
  if (database !== onlyDatabase) return client.end(unknownDatabase(database))
  if (!entered(client, asker, before.located.endpoint)) return
  return renew(client, asker, before, (allowed) => {
    if (allowed.located.verifier === undefined) return client.end(wrongPassword(user))
    const { read_only_reason, type } = allowed.located.endpoint
    const login = withKeys({
      startup: encodeStartup(upstream(startup, user, type === "read_only")),
      keys: { clientKey, serverKey },
      serverFinal: text,
      notices: read_only_reason === "disk_quota" ? [encodeWarning(onlyReads)] : []
    })
    return openSession(client, asker, allowed, login)
  })
}

/** Postgres itself only says that permission is denied. */
const onlyReads = {
  sqlstate: "53100",
  message: "This database only reads: its organization holds more disk than its quota.",
  hint: "Delete a branch or a project, reset a branch, or ask the operator for a higher quota."
}

/** The only database in which minted roles may connect. A server would log each attempt at another one. */
const onlyDatabase = "postgres"

/** Whether Postgres would take the startup packet for a replication connection: `database`, or any spelling of true. */
const isReplication = (startup: Startup): boolean => {
  const value = parameter(startup, "replication")
  return value !== undefined && !/^(?:|0|of|off|f|fa|fal|fals|false|n|no)$/i.test(value)
}

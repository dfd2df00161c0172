/**
 * How the proxy ends a connection: the SQLSTATE, the message and the hint of every error that it sends to clients
 * (docs/design/proxy.md P13).
 *
 * Drivers may retry 57P03, so no refusal that a retry cannot change uses it.
 */
import { Data } from "effect"
import { type ErrorFields, echo } from "../wire/ErrorResponse.ts"

/** Ends the connection with an ErrorResponse. `event` is the label under which it is counted. */
export class Refusal extends Data.TaggedClass("Refusal")<ErrorFields & { readonly event: string }> {}

/** Ends the connection with the error that its server has sent. */
export class ServerError extends Data.TaggedClass("ServerError")<{ readonly bytes: Buffer }> {
  readonly event = "server_error"
}

/** Closes the connection without sending a byte, as Postgres does with input that it does not understand. */
export class Hangup extends Data.TaggedClass("Hangup")<{ readonly event: string }> {}

const refusal = (event: string, sqlstate: string, message: string, hint: string) =>
  new Refusal({ event, sqlstate, message, hint })

const findTheId = "The endpoint id is the first label of the host name that the console and the API show."

const howToList = (address: string, project_id: string) =>
  `Add it with: narthex ip-allow add ${address} --project ${project_id}`

export const notListed = (address: string, project_id: string) =>
  refusal(
    "not_listed",
    "28000",
    `The address ${address} is not on this project's IP allowlist.`,
    howToList(address, project_id)
  )

/** In the words of Postgres, by which clients know it. */
export const wrongPassword = (role: string) =>
  refusal(
    "wrong_password",
    "28P01",
    `password authentication failed for user "${echo(role)}"`,
    "Check the role and its password, or create a new credential: a revoked or expired one is refused in the same way."
  )

export const malformedExchange = () =>
  refusal("bad_exchange", "08P01", "The client's authentication message is malformed.", "Check the client library.")

export const unsupportedExchange = () =>
  refusal(
    "bad_exchange",
    "0A000",
    "The client asks for a feature of SCRAM that Postgres does not support.",
    "Check the client library."
  )

export const bindingMismatch = () =>
  refusal(
    "binding_mismatch",
    "28000",
    "The client's TLS connection does not end at this proxy.",
    "Another program may stand in between. If it should, connect with channel_binding=disable."
  )

export const notAuthenticated = () =>
  refusal(
    "authentication_timed_out",
    "08006",
    "The client did not authenticate in time.",
    "Check the client and the network, and connect again."
  )

/** The server lets clients in without a proof. */
export const unproven = () =>
  refusal(
    "unproven",
    "28000",
    "The server of this endpoint asks for no password.",
    "Ask the operator: the server must authenticate every connection with SCRAM-SHA-256."
  )

/** The server does not know the verifier of the role. */
export const foreignServer = () =>
  refusal(
    "foreign_server",
    "08006",
    "The server of this endpoint cannot prove that it has the data of the branch.",
    "Ask the operator: another server may be at its address."
  )

export const replicationUnsupported = () =>
  refusal(
    "replication",
    "0A000",
    "Endpoints do not accept replication connections.",
    "Use a logical dump, or a branch, to copy the data."
  )

export const unknownDatabase = (name: string) =>
  refusal(
    "unknown_database",
    "3D000",
    `database "${echo(name)}" does not exist`,
    "Every branch has one database for its credentials: postgres."
  )

export const notStarted = () =>
  refusal(
    "not_started",
    "57P03",
    "The endpoint is suspended, and its server authenticates clients itself.",
    "Start the endpoint in the console or API, and connect again."
  )

export const tlsRequired = () =>
  refusal("tls_required", "28000", "This proxy accepts TLS connections only.", "Connect with sslmode=require.")

export const rulesUnknown = () =>
  refusal(
    "rules_unknown",
    "57P03",
    "The project's IP allowlist cannot be checked at the moment.",
    "Try again in a few seconds."
  )

export const unavailable = () =>
  refusal("unavailable", "57P03", "The endpoint cannot be reached at the moment.", "Try again in a few seconds.")

export const wakeTimedOut = () =>
  refusal("wake_timed_out", "57P03", "The endpoint did not start in time.", "Try again in a few seconds.")

export const restarting = () =>
  refusal("draining", "57P03", "The proxy is restarting.", "Connect again in a few seconds.")

export const noEndpoint = () =>
  refusal(
    "no_endpoint",
    "08004",
    "The connection names no endpoint.",
    `Use the endpoint's host name, options=endpoint%3D<endpoint id>, or the user name <role>.<endpoint id>. ${findTheId}`
  )

export const unknownEndpoint = (id: string) =>
  refusal("unknown_endpoint", "08004", `Endpoint "${echo(id)}" does not exist.`, findTheId)

/** Names below `localhost` lead to the machine of the client, so no name is given there. */
export const otherRegion = (id: string, region: string, domain: string) =>
  refusal(
    "other_region",
    "08004",
    `Endpoint "${echo(id)}" is in region "${region}", and this proxy serves another one.`,
    domain === "localhost" ? `Connect to a proxy of region "${region}".` : `Connect to ${echo(id)}.${region}.${domain}.`
  )

export const contradictoryEndpoints = (ids: ReadonlyArray<string>) =>
  refusal(
    "contradictory_endpoints",
    "08004",
    `The connection names more than one endpoint: ${[...new Set(ids)]
      .slice(0, 3)
      .map((id) => `"${echo(id)}"`)
      .join(", ")}.`,
    `Name one endpoint, in one place. ${findTheId}`
  )

export const disabledEndpoint = (id: string) =>
  refusal("disabled_endpoint", "08004", `Endpoint "${echo(id)}" is disabled.`, "Enable it in the console or API.")

export const reservedRole = (role: string) =>
  refusal(
    "reserved_role",
    "28000",
    `The role "${echo(role)}" cannot connect.`,
    "Connect with the role of a connection string: role_ and 16 letters or digits."
  )

const tooManyOf = {
  connections: "Too many connections to this endpoint.",
  organization: "Too many connections to the endpoints of this organization.",
  failures: "Too many failed logins at this endpoint from this network.",
  misses: "Too many endpoints and roles that do not exist were named from this network."
}

export const tooMany = (what: keyof typeof tooManyOf) =>
  refusal(
    `too_many_${what}`,
    "53300",
    tooManyOf[what],
    what === "failures" || what === "misses"
      ? "Check the connection string, and try again in a few seconds."
      : "Use a connection pool, or try again in a few seconds."
  )

export const tooManyComputes = () =>
  refusal(
    "too_many_computes",
    "53300",
    "The organization of this endpoint runs as many computes as its quota allows.",
    "Suspend another endpoint of the organization, or ask the operator for a higher quota."
  )

export const badPacket = (reason: string) =>
  refusal("bad_packet", "08P01", `The startup packet is malformed: ${reason}.`, "Check the client library.")

export const unsupportedProtocol = (major: number, minor: number) =>
  refusal(
    "unsupported_protocol",
    "0A000",
    `Protocol version ${major}.${minor} is not supported; this proxy supports 3.x.`,
    "Update the client library."
  )

/** Ends an established connection whose address the allowlist no longer admits. */
export const noLongerListed = (address: string, project_id: string) =>
  refusal(
    "cut_rules",
    "57P01",
    `The project's IP allowlist no longer lists the address ${address}.`,
    howToList(address, project_id)
  )

/** The other errors that end an established connection. */
export const cuts = {
  disabled: refusal(
    "cut_disabled",
    "57P01",
    "The endpoint was disabled or deleted.",
    "Ask an administrator of the project."
  ),
  suspended: refusal("cut_suspended", "57P01", "The endpoint was suspended.", "Connect again to start it."),
  drain: refusal("cut_drain", "57P01", "The proxy is restarting.", "Connect again in a few seconds.")
}

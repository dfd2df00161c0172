/**
 * One minted role of a Postgres server that the operator runs: its groups, the form of its name and the statements that
 * put it there.
 */
import type { ComputeRole } from "@narthex/core"
import { DateTime, Option } from "effect"

export const writers = "narthex_writer"
export const readers = "narthex_reader"
export const groups = `('${writers}', '${readers}')`

const sessionsPerRole = { read_write: 80, read_only: 20 } as const

export const groupOf = ({ access }: ComputeRole) => (access === "read_write" ? writers : readers)

export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Postgres would take any other text for a password and hash it. */
const verifierForm = /^SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$/

/** Why a role cannot be created. Postgres truncates a name above 63 bytes, so that two names may become one. */
export const refusalOf = ({ role, verifier }: ComputeRole): string | undefined => {
  if (/^(pg_|narthex)/.test(role) || ["postgres", "public", "none"].includes(role))
    return `The role name ${role} is reserved.`
  if (role === "" || role.includes("\0") || Buffer.byteLength(role) > 63)
    return "The name of a role must have 1 to 63 bytes."
  return verifierForm.test(verifier) ? undefined : `The verifier of the role ${role} is not one of SCRAM-SHA-256.`
}

/** Creates the role, or gives an existing one its rights, limits and verifier again. */
export const put = (role: ComputeRole, exists: boolean): ReadonlyArray<string> => {
  const name = identifier(role.role)
  const until = Option.match(role.expires_at, { onNone: () => "infinity", onSome: DateTime.formatIso })
  return [
    ...(exists ? [] : [`create role ${name} in role ${groupOf(role)}`]),
    `alter role ${name} with login inherit connection limit ${sessionsPerRole[role.access]}
     password '${role.verifier}' valid until '${until}'`,
    `alter role ${name} reset all`,
    role.access === "read_write"
      ? `alter role ${name} set role = '${writers}'`
      : `alter role ${name} set default_transaction_read_only = on`
  ]
}

/**
 * One minted role of a Postgres server that the operator runs: its groups, and the statements that put it there.
 */
import { readers, writers } from "@narthex/compute-roles"
import type { ComputeRole } from "@narthex/core"
import { DateTime, Option } from "effect"

export const groups = `('${writers}', '${readers}')`

const sessionsPerRole = { read_write: 80, read_only: 20 } as const

export const groupOf = ({ access }: ComputeRole) => (access === "read_write" ? writers : readers)

export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

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

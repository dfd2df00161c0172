/**
 * The seal of a stopped cluster: its catalog has exactly the roles and rights of a list, so that a start with the same
 * list has nothing to apply. Every other start applies its list. A seal is a hint that may be missing, never a promise.
 *
 * 1. `examine` compares the catalog with the list before the server stops, and returns the next transaction id of its
 *    snapshot.
 * 2. After the server has stopped, `seal` reads the next transaction id from `pg_control`. If it is the same, no
 *    transaction has changed anything since: every transaction that writes gets an id. If not, there is no seal.
 * 3. The seal is a digest of the list, of the statements that apply it, and of `pg_control`. A server that starts writes
 *    `pg_control` before it accepts a session, so the seal of an earlier stop, or of other data, does not match.
 *
 * Pitfall: a stamp of what was applied. The sessions after it may have changed passwords, memberships and grants.
 * Pitfall: a mark that the start removes. After a power failure it may be back, with the changes of later sessions.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { accessStatements, differs, formerRoles, type RoleState, roleState, wantedState } from "@narthex/compute-roles"
import type { ComputeRole } from "@narthex/core"
import { Duration, Effect, Option } from "effect"
import { asSupervisor } from "../cluster/asSupervisor.ts"
import type { Cluster } from "../cluster/Cluster.ts"
import { attempt } from "../machine/LocalPostgresError.ts"
import { startOfFile } from "../machine/startOfFile.ts"

/** The `DBState` of a server that was shut down with a checkpoint. */
const shutDown = 1

/** Versions of `pg_control` (Postgres 13 to 18) with the members of `nextIdOf` in these places. */
const knownVersions: ReadonlySet<number> = new Set([1300, 1700, 1800])

/** The next transaction id of a server that was shut down cleanly, from its `ControlFileData`; `undefined` otherwise. */
const nextIdOf = (control: Buffer): bigint | undefined =>
  control.length >= 72 && knownVersions.has(control.readUInt32LE(8)) && control.readUInt32LE(16) === shutDown
    ? control.readBigUInt64LE(64)
    : undefined

interface Found extends RoleState {
  readonly buried: boolean
  readonly oldest: string
  readonly next: string
}

/** One statement, so that everything has the snapshot whose ids it returns. */
const examination = `
  SELECT ${roleState}, NOT EXISTS (${formerRoles}) AS buried,
    pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, pg_snapshot_xmax(pg_current_snapshot())::text AS next`

/**
 * The next transaction id of a running cluster whose catalog needs no change for the list. `None`: it needs one, or the
 * examination took longer than `patience`. A transaction that is open may still change something, so it counts as a
 * change.
 */
export const examine = (
  cluster: Cluster,
  roles: ReadonlyArray<ComputeRole>,
  patience: Duration.Duration
): Effect.Effect<Option.Option<bigint>> =>
  asSupervisor(cluster, "postgres", (sql) => sql.unsafe<Found>(examination), statementsWithin(patience)).pipe(
    Effect.map(([found]) => {
      const matches = found?.buried === true && found.oldest === found.next && !differs(found, roles)
      return matches ? Option.some(BigInt(found.next)) : Option.none()
    }),
    Effect.timeout(patience),
    Effect.catch((error) =>
      Effect.as(Effect.logDebug("The next start applies the roles again.", error), Option.none<bigint>())
    )
  )

/** The statement ends by itself before the examination is given up. */
const statementsWithin = (patience: Duration.Duration) => {
  const share = (divisor: number) => `${Math.ceil(Duration.toMillis(patience) / divisor)}ms`
  return { statement_timeout: share(2), lock_timeout: share(10) }
}

/** Postgres's size of the file, which every version keeps. */
const controlBytes = 8192

const readControl = (cluster: Cluster) =>
  attempt(`Reading pg_control of ${cluster.data}`, async () =>
    startOfFile(join(cluster.data, "global", "pg_control"), controlBytes)
  )

const sealFile = (cluster: Cluster) => join(cluster.directory, "roles.seal")

const digestOf = (control: Buffer, roles: ReadonlyArray<ComputeRole>) =>
  createHash("sha256")
    .update(JSON.stringify([accessStatements, roles.map(wantedState).toSorted()]))
    .update(control)
    .digest("hex")

/** Seals a stopped cluster if nothing has changed since `examine`, which returned `next`. */
export const seal = (cluster: Cluster, roles: ReadonlyArray<ComputeRole>, next: bigint): Effect.Effect<void> =>
  Effect.gen(function* () {
    const control = yield* readControl(cluster)
    if (nextIdOf(control) !== next) return
    // A seal that was written in part matches nothing, so the file needs no rename.
    yield* attempt("Sealing", () => writeFile(sealFile(cluster), digestOf(control, roles), { mode: 0o600 }))
  }).pipe(Effect.catch((error) => Effect.logDebug("The next start applies the roles again.", error)))

/** Whether a stopped cluster has exactly the roles and rights of the list. */
export const isSealed = (cluster: Cluster, roles: ReadonlyArray<ComputeRole>): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const reading = attempt("Reading the seal", async () => readFileSync(sealFile(cluster), "utf8"))
    const [sealed, control] = yield* Effect.all([reading, readControl(cluster)], { concurrency: 2 })
    return sealed === digestOf(control, roles)
  }).pipe(Effect.orElseSucceed(() => false))

/**
 * The public surface of local-postgres: re-exports, nothing else.
 *
 * The pieces of SQL (`loginsUnderWay`, `missingReadsOf`, `readingBatch`, `isRestricted`, `withdrawalsOf`) are for the static
 * computes of `@narthex/server`. They may change with each version, and are safe only in a session whose `search_path` is
 * `pg_catalog, pg_temp`: they name no schema of the functions that they call.
 */
export * as LocalComputeDriver from "./computes/LocalComputeDriver.ts"
export { loginsUnderWay, loginsWithin } from "./computes/loginsUnderWay.ts"
export { missingReadsOf, readingBatch } from "./computes/reads.ts"
export { isRestricted } from "./computes/uncheckedCalls.ts"
export { withdrawalsOf } from "./computes/Withdrawals.ts"
export { defaultUids, type UidRange } from "./machine/ComputeAccounts.ts"
export {
  DataDirectoryLocked,
  DataDirectoryUnusable,
  LocalPostgresError,
  type LocalPostgresFailure,
  PostgresBinariesMissing
} from "./machine/LocalPostgresError.ts"
export type { LocalPostgresOptions } from "./machine/Machine.ts"
export type { Identity } from "./machine/PostgresUser.ts"
export { EmbeddedPostgres, type StoreConnection } from "./store/EmbeddedPostgres.ts"

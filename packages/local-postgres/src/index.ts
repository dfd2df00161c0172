/** The public surface of local-postgres: re-exports, nothing else. */
export * as LocalComputeDriver from "./computes/LocalComputeDriver.ts"
export { loginsUnderWay, loginsWithin } from "./computes/loginsUnderWay.ts"
export { missingReads } from "./computes/RoleGroups.ts"
export { isRestricted } from "./computes/uncheckedCalls.ts"
export { withdrawalsOf } from "./computes/Withdrawals.ts"
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

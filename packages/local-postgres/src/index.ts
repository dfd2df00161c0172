/** The public surface of local-postgres: re-exports, nothing else. */
export { diskReserve } from "./computes/ComputeLimits.ts"
export { spaceOf } from "./computes/copyRoom.ts"
export * as LocalComputeDriver from "./computes/LocalComputeDriver.ts"
export { defaultUids, type UidRange } from "./machine/ComputeAccounts.ts"
export {
  DataDirectoryLocked,
  DataDirectoryUnusable,
  LocalPostgresError,
  type LocalPostgresFailure,
  PostgresBinariesMissing
} from "./machine/LocalPostgresError.ts"
export { findMachine, type LocalPostgresOptions } from "./machine/Machine.ts"
export type { Identity } from "./machine/PostgresUser.ts"
export { whyUndividable } from "./machine/whyUndividable.ts"
export { EmbeddedPostgres, type StoreConnection } from "./store/EmbeddedPostgres.ts"

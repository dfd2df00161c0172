/** The public surface of local-postgres: re-exports, nothing else. */
export * from "./EmbeddedPostgres.ts"
export * as LocalComputeDriver from "./LocalComputeDriver.ts"
export * from "./LocalPostgresError.ts"
export type { LocalPostgresOptions } from "./openDataDirectory.ts"
export type { Identity } from "./PostgresUser.ts"

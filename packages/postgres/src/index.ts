/** The public surface of the Postgres package: re-exports, nothing else. */
export { Database, type DatabaseOptions, uniqueViolation } from "./Database.ts"
export { jsonb } from "./driver/values.ts"
export { migrate } from "./migrate.ts"

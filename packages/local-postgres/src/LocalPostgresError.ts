/**
 * What can go wrong with Postgres on this machine, each with a sentence and what to do about it.
 *
 * `LocalPostgresError` is the machine refusing (a file, a process, a query); the others are situations that an
 * operator can resolve, and their messages are written for that operator.
 */
import { Option, Schema } from "effect"

/** No usable `postgres` and `initdb` where they were looked for. */
export class PostgresBinariesMissing extends Schema.TaggedError<PostgresBinariesMissing>()("PostgresBinariesMissing", {
  reason: Schema.String
}) {
  override get message() {
    return `${this.reason} Install PostgreSQL 15 or newer, or set NARTHEX_POSTGRES_BIN to a directory with postgres and initdb.`
  }
}

/** Another process works in this directory. The kernel says so, and forgets it when that process ends, however it ends. */
export class DataDirectoryLocked extends Schema.TaggedError<DataDirectoryLocked>()("DataDirectoryLocked", {
  directory: Schema.String,
  /** None when the holder cannot be seen from here, as in another container. */
  holder: Schema.Option(Schema.Int)
}) {
  override get message() {
    const holder = Option.match(this.holder, {
      onNone: () => "a process that cannot be seen from here",
      onSome: (pid) => `process ${pid}`
    })
    return `The data directory ${this.directory} is in use by ${holder}. Stop it, or set NARTHEX_DATA_DIR to another directory.`
  }
}

/** The data is there, and this process must not run Postgres on it. */
export class DataDirectoryUnusable extends Schema.TaggedError<DataDirectoryUnusable>()("DataDirectoryUnusable", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The data directory ${this.directory} cannot be used: ${this.reason}`
  }
}

/** The machine or Postgres itself refused a step. */
export class LocalPostgresError extends Schema.TaggedError<LocalPostgresError>()("LocalPostgresError", {
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.operation} failed: ${this.reason}`
  }
}

export type LocalPostgresFailure =
  | PostgresBinariesMissing
  | DataDirectoryLocked
  | DataDirectoryUnusable
  | LocalPostgresError

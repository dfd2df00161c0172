/**
 * The errors of Postgres on this machine.
 *
 * `LocalPostgresError` is a failed step of the operating system or of Postgres (a file, a process, a query). The others
 * are situations that an operator can resolve; their messages say how.
 */
import { Effect, Option, Schema } from "effect"

/** No usable `postgres` and `initdb` where they were looked for. */
export class PostgresBinariesMissing extends Schema.TaggedError<PostgresBinariesMissing>()("PostgresBinariesMissing", {
  reason: Schema.String
}) {
  override get message() {
    return `${this.reason} Install PostgreSQL 15 or newer, or set NARTHEX_POSTGRES_BIN to a directory with postgres and initdb.`
  }
}

/**
 * Another process holds the lock of this directory. The kernel releases the lock when that process ends for any reason.
 */
export class DataDirectoryLocked extends Schema.TaggedError<DataDirectoryLocked>()("DataDirectoryLocked", {
  directory: Schema.String,
  /** The pid of the holder; none when it is not visible from here, as in another container. */
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

/** The data exist, and this process must not run Postgres on them. */
export class DataDirectoryUnusable extends Schema.TaggedError<DataDirectoryUnusable>()("DataDirectoryUnusable", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The data directory ${this.directory} cannot be used: ${this.reason}`
  }
}

/** The operating system or Postgres refused a step. */
export class LocalPostgresError extends Schema.TaggedError<LocalPostgresError>()("LocalPostgresError", {
  operation: Schema.String,
  reason: Schema.String,
  /** Postgres's code of the error, when Postgres answered. */
  sqlstate: Schema.optional(Schema.String),
  /** The standard error of a program. */
  printed: Schema.optionalKey(Schema.String),
  /** The machine has no room or time for it now; repeating it later helps. */
  busy: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return `${this.operation} failed: ${this.reason}`
  }
}

/** A request for a compute that this machine can never fulfil, however often it is repeated. */
export class ImpossibleRequest extends Schema.TaggedError<ImpossibleRequest>()("ImpossibleRequest", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** There is no room for the request now. It can be fulfilled later, and `reason` names nothing of this machine. */
export class NoRoomNow extends Schema.TaggedError<NoRoomNow>()("NoRoomNow", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** The branches of an organization take their share of a disk that is nearly full. The numbers are for the operator. */
export class DiskShareTaken extends Schema.TaggedError<DiskShareTaken>()("DiskShareTaken", {
  taken: Schema.Finite,
  left: Schema.Finite
}) {
  override get message() {
    return `the branches of one organization would take ${this.taken} bytes of the disk, with ${this.left} left`
  }
}

export type LocalPostgresFailure =
  | PostgresBinariesMissing
  | DataDirectoryLocked
  | DataDirectoryUnusable
  | LocalPostgresError

/**
 * Runs a promise of the platform; a rejection becomes the reason of a `LocalPostgresError`.
 *
 * Pitfall: making it interruptible. The platform goes on with a rename or a removal that is not awaited, next to the
 * call that takes over.
 */
export const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.uninterruptible(
    Effect.tryPromise({ try: run, catch: (cause) => new LocalPostgresError({ operation, reason: reasonOf(cause) }) })
  )

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

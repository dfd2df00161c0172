/**
 * `~/.config/narthex/credentials.json`: the file that stores the contexts, each with its key.
 *
 * A change reads the file and writes it under a lock, so that two commands at once lose nothing (docs/design/cli.md C33).
 * A file that cannot be decoded is never overwritten; `logout` deletes it.
 */
import { join } from "node:path"
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { Environment } from "../environment/Environment.ts"
import { withoutMark } from "../environment/withoutMark.ts"
import { ContextFileUnusable } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"
import { type HeldLock, tryLock } from "./fileLock.ts"
import { readPrivate, removePrivate, writePrivate } from "./privateFiles.ts"
import { noContexts, StoredContexts } from "./StoredContexts.ts"

export class ContextFile extends Context.Service<
  ContextFile,
  {
    readonly path: string
    /** Without a file: no contexts. */
    readonly read: Effect.Effect<StoredContexts, ContextFileUnusable>
    readonly change: (
      next: (stored: StoredContexts) => StoredContexts
    ) => Effect.Effect<StoredContexts, ContextFileUnusable>
    /** Returns whether there was a file. */
    readonly remove: Effect.Effect<boolean, ContextFileUnusable>
  }
>()("@narthex/cli/credentials/ContextFile") {
  static readonly layer: Layer.Layer<ContextFile, never, Environment | Output> = Layer.effect(
    ContextFile,
    Effect.gen(function* () {
      const { folder } = yield* Environment
      const output = yield* Output
      const path = join(folder, "credentials.json")

      const attempt = <A>(doing: string, action: () => A) =>
        Effect.try({ try: action, catch: (cause) => unusable(path, doing, cause) })

      const read = Effect.gen(function* () {
        const found = yield* attempt("read", () => readPrivate(path))
        if (found === undefined) return noContexts
        if (found.loose !== undefined)
          yield* output.warn(
            `${path} ${found.loose === "until now" ? "was readable by other users, and is now private" : "is readable by other users, and cannot be made private"}. Replace its keys: narthex login`
          )
        return yield* Effect.mapError(decode(withoutMark(found.text)), () => notUnderstood(path))
      })

      /** Waits for the lock; only the wait can be interrupted. A change whose lock was taken over starts again. */
      const locked = <A>(use: (lock: HeldLock) => Effect.Effect<A, ContextFileUnusable | Busy>) =>
        Effect.gen(function* () {
          const lock = yield* attempt("locked", () => tryLock(path))
          return lock === undefined ? yield* new Busy() : yield* Effect.ensuring(use(lock), release(lock))
        }).pipe(
          Effect.uninterruptible,
          Effect.retry({ while: ({ _tag }) => _tag === "Busy", schedule: Schedule.spaced(pause), times: attempts }),
          Effect.catchTag("Busy", () => Effect.fail(inUse(path)))
        )
      const release = (lock: HeldLock) => Effect.ignore(attempt("unlocked", lock.release))

      return ContextFile.of({
        path,
        read,
        change: (next) =>
          locked((lock) =>
            Effect.gen(function* () {
              const changed = next(yield* read)
              const text = yield* Effect.mapError(encode(changed), () => notUnderstood(path))
              if (!lock.isHeld()) return yield* new Busy()
              yield* attempt("written", () => writePrivate(path, `${text}\n`))
              return changed
            })
          ),
        remove: locked(() => attempt("deleted", () => removePrivate(path)))
      })
    })
  )
}

/** Another process holds the lock of the file. */
class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}

/** A holder needs milliseconds; after ten seconds it has stopped. */
const pause = "20 millis"
const attempts = 500

const inUse = (path: string) =>
  new ContextFileUnusable({
    message: `${path} is in use by another narthex.`,
    hint: `run the command again; if no narthex is running, delete ${path}.lock`
  })

const Text = Schema.fromJsonString(StoredContexts)
const decode = Schema.decodeEffect(Text)
/** Made by a change: few commands write the file. */
const encode = (stored: StoredContexts) => Schema.encodeEffect(Text)(stored)

/** The message does not quote the content, which contains secrets. */
const notUnderstood = (path: string) =>
  new ContextFileUnusable({
    message: `${path} is not a credentials file that this version of narthex can read.`,
    hint: "narthex logout deletes it; narthex login creates a new one"
  })

const unusable = (path: string, doing: string, cause: unknown) =>
  new ContextFileUnusable({
    message: `${path} could not be ${doing}: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause
  })

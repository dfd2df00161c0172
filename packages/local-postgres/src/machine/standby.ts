/**
 * Waits for a data directory that another process holds.
 *
 * The kernel releases the lock of a process that ends, so a standby takes over at once. A holder that is stopped keeps
 * its lock: while it works it renews a sign of life, and a standby that has not seen a new one for `patience` kills it.
 * So whatever the holder would do once it continues, it does not do.
 *
 * Pitfall: comparing the sign's time with a clock. A standby compares two signs, and measures with its own clock how
 * long they were the same.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Duration, Effect, Option, Schedule } from "effect"
import { lockDirectory } from "./DirectoryLock.ts"
import { attempt } from "./LocalPostgresError.ts"

export interface StandbyOptions {
  /** How long a holder may show no sign of life before it is killed. Longer than the lease of its operations. */
  readonly patience: Duration.Duration
}

const fileOf = (directory: string) => join(directory, "sign-of-life")

/** Holds the lock of the directory until the scope closes, and renews its sign of life. Waits while another holds it. */
export const awaitDirectory = Effect.fn("awaitDirectory")(function* (directory: string, { patience }: StandbyOptions) {
  const pause = Duration.times(patience, 1 / 10)
  let seen = { holder: 0, sign: "", since: 0 }
  const logWaiting = yield* Effect.cached(Effect.logInfo(`Another process holds ${directory}. Waiting as its standby.`))

  /** Kills the holder if it has shown no new sign for `patience`. */
  const watch = Effect.fnUntraced(function* (holder: number) {
    const sign = yield* Effect.orElseSucceed(
      attempt("Reading a sign of life", () => readFile(fileOf(directory), "utf8")),
      () => ""
    )
    const now = yield* Clock.currentTimeMillis
    if (seen.holder !== holder || seen.sign !== sign) seen = { holder, sign, since: now }
    if (now - seen.since < Duration.toMillis(patience)) return
    yield* Effect.logWarning(`Process ${holder} holds ${directory} and shows no sign of life. It is killed.`)
    yield* Effect.ignore(Effect.try(() => process.kill(holder, "SIGKILL")))
  })

  const locked: Effect.Effect<
    void,
    Effect.Error<ReturnType<typeof lockDirectory>>,
    Effect.Services<ReturnType<typeof lockDirectory>>
  > = Effect.catchTag(lockDirectory(directory), "DataDirectoryLocked", ({ holder }) =>
    Effect.andThen(
      Effect.andThen(logWaiting, Option.match(holder, { onNone: () => Effect.void, onSome: watch })),
      Effect.andThen(
        Effect.sleep(pause),
        Effect.suspend(() => locked)
      )
    )
  )
  yield* locked

  let count = 0
  const renew = attempt("Renewing a sign of life", () =>
    writeFile(fileOf(directory), `${process.pid} ${++count}`, { mode: 0o600 })
  )
  yield* renew
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(renew), Schedule.spaced(pause)))
})

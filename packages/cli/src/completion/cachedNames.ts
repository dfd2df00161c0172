/**
 * Names from the server for completion, kept for a minute in a file of the cache folder. A server that does not answer
 * in 300 ms leaves the older names, for a day.
 *
 * Pitfall: a file name with the credential in it. Its digest tells the organizations apart.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { Clock, Context, Duration, Effect, Option, Schema } from "effect"
import { readPrivate, writePrivate } from "../contexts/privateFiles.ts"
import { Environment } from "../environment/Environment.ts"
import type { Candidate } from "./planCompletion.ts"

const Entry = Schema.fromJsonString(
  Schema.Struct({
    at: Schema.Finite,
    names: Schema.Array(Schema.Struct({ value: Schema.String, description: Schema.String }))
  })
)
const decode = Schema.decodeUnknownOption(Entry)
const encode = Schema.encodeSync(Entry)

const fresh = Duration.toMillis("1 minute")
const usable = Duration.toMillis("1 day")

/** How long completion waits for the server. */
export const CompletionPatience = Context.Reference<Duration.Duration>("@narthex/cli/completion/CompletionPatience", {
  defaultValue: () => Duration.millis(300)
})

/** `key`: what the names depend on, secrets included. Never fails. */
export const cachedNames = Effect.fn("cachedNames")(function* <E, R>(
  key: ReadonlyArray<string>,
  names: Effect.Effect<ReadonlyArray<Candidate>, E, R>
) {
  const { cacheFolder } = yield* Environment
  const folder = join(cacheFolder, "names")
  const path = join(folder, `${createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 32)}.json`)
  const now = yield* Clock.currentTimeMillis
  const stored = decode(yield* quietly(() => readPrivate(path)?.text))
  if (Option.isSome(stored) && isWithin(now - stored.value.at, fresh)) return stored.value.names
  const answered = yield* Effect.option(Effect.timeout(names, yield* CompletionPatience))
  if (Option.isNone(answered)) return Option.isSome(stored) ? stored.value.names : []
  yield* quietly(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeOld(folder, now)
    writePrivate(path, encode({ at: now, names: answered.value }))
  })
  return answered.value
})

/** A clock that was set back makes an entry of the future, which is not used. */
const isWithin = (age: number, limit: number) => age >= 0 && age < limit

const removeOld = (folder: string, now: number) => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (now - statSync(path).mtimeMs > usable) rmSync(path, { force: true })
  }
}

const quietly = <A>(action: () => A) => Effect.orElseSucceed(Effect.try(action), () => undefined)

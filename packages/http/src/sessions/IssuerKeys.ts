/**
 * The public keys of a configured issuer: found by discovery, cached, and fetched again when they may have changed.
 *
 * The set is valid for ten minutes. An unknown `kid`, or a signature that does not fit its key, causes a fetch, but not
 * within 30 seconds of the last one, so forged tokens cannot overload the issuer. A member of the set that is no key is
 * ignored. A failed attempt is not repeated for five seconds, and while the issuer is down the
 * last good set is used for a day. Concurrent callers share an attempt, which takes at most five seconds; issuers do not
 * affect each other.
 */

import { becauseOf } from "@narthex/core"
import { Clock, Duration, Effect, Option, Schema, Semaphore } from "effect"
import { createLocalJWKSet } from "jose"
import { FetchFailed, fetchJson } from "./fetchJson.ts"
import { describes, isLoopbackHost, isTrustedUrl } from "./OpenIdProvider.ts"

const mostBytes = 256 * 1024
const timeout = Duration.seconds(5)
const freshMillis = 10 * 60_000
const coolDownMillis = 30_000
const failureCoolDownMillis = 5_000
const lastGoodMillis = 24 * 3_600_000

const Discovery = Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String })
const Jwk = Schema.StructWithRest(Schema.Struct({ kty: Schema.String, kid: Schema.optionalKey(Schema.String) }), [
  Schema.Record(Schema.String, Schema.Unknown)
])
const isJwk = Schema.is(Jwk)
const JwkSet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })

/** A key set: as the library selects keys from it, and as it was published. */
export interface KeySet {
  readonly pick: ReturnType<typeof createLocalJWKSet>
  readonly jwks: ReadonlyArray<typeof Jwk.Type>
  readonly fetched_at: number
}

export interface IssuerKeys {
  /** The present set: younger than ten minutes, or the last good one while the issuer is down. */
  readonly current: Effect.Effect<KeySet, FetchFailed>
  /** A set younger than `seen`, if a fetch is allowed at present. */
  readonly newerThan: (seen: KeySet) => Effect.Effect<Option.Option<KeySet>, FetchFailed>
}

const decoded = <A, I>(schema: Schema.Codec<A, I>, url: string) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (json: unknown) =>
    Effect.mapError(
      decode(json),
      () => new FetchFailed({ url, reason: "the document does not have the expected form" })
    )
}

const fetchSet = Effect.fn("IssuerKeys.fetch")(function* (issuer: string) {
  const where = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const document = yield* Effect.flatMap(fetchJson(where, mostBytes), decoded(Discovery, where))
  if (!describes(document.issuer, issuer)) {
    return yield* new FetchFailed({ url: where, reason: `it names the issuer ${JSON.stringify(document.issuer)}` })
  }
  const uri = document.jwks_uri
  if (!mayPublishAt(issuer, uri)) {
    return yield* new FetchFailed({
      url: where,
      reason: "its jwks_uri is not https, and not on loopback together with the issuer"
    })
  }
  const published = yield* Effect.flatMap(fetchJson(uri, mostBytes), decoded(JwkSet, uri))
  const keys = published.keys.filter(isJwk)
  const pick = yield* Effect.try({
    try: () => createLocalJWKSet({ keys: [...keys] }),
    catch: () => new FetchFailed({ url: uri, reason: "the document is not a key set" })
  })
  const set: KeySet = { pick, jwks: keys, fetched_at: yield* Clock.currentTimeMillis }
  return set
})

/** A public issuer may not name addresses on this machine. */
function mayPublishAt(issuer: string, uri: string): boolean {
  const [from, to] = [URL.parse(issuer), URL.parse(uri)]
  if (from === null || to === null) return false
  // The URL of a key set may have a query; an issuer may not.
  const plain = isTrustedUrl(uri.replace(/\?[^#]*$/, ""))
  return plain && (!isLoopbackHost(to.hostname) || isLoopbackHost(from.hostname))
}

export const makeIssuerKeys = Effect.fnUntraced(function* (issuer: string) {
  const lock = yield* Semaphore.make(1)
  let last: KeySet | undefined
  let failed: { readonly at: number; readonly error: FetchFailed } | undefined

  /** The outcome of an attempt. Callers that waited for it share it. */
  const attempt = Effect.suspend(() => {
    const [set, failure] = [last, failed]
    return lock.withPermits(1)(
      Effect.gen(function* () {
        if (last !== undefined && last !== set) return last
        if (failed !== undefined && failed !== failure) return yield* failed.error
        const fetched = yield* fetchSet(issuer)
        last = fetched
        failed = undefined
        return fetched
      })
    )
  }).pipe(
    // The time-out includes the wait for another caller's attempt, so no caller waits longer.
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(new FetchFailed({ url: issuer, reason: "it took longer than five seconds" }))
    }),
    Effect.tapError((error) =>
      Effect.gen(function* () {
        if (failed?.error === error) return
        failed = { at: yield* Clock.currentTimeMillis, error }
        yield* Effect.logWarning("The keys of an identity provider cannot be fetched.").pipe(
          becauseOf(error),
          Effect.annotateLogs("issuer", issuer)
        )
      })
    )
  )

  const unlessJustFailed = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    return failed !== undefined && now - failed.at < failureCoolDownMillis ? yield* failed.error : yield* attempt
  })

  const keys: IssuerKeys = {
    current: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const kept = last
      if (kept === undefined) return yield* unlessJustFailed
      if (now - kept.fetched_at < freshMillis) return kept
      return yield* Effect.catch(unlessJustFailed, (error) =>
        now - kept.fetched_at < lastGoodMillis ? Effect.succeed(kept) : Effect.fail(error)
      )
    }),
    newerThan: Effect.fnUntraced(function* (seen) {
      if (last !== undefined && last !== seen) return Option.some(last)
      if ((yield* Clock.currentTimeMillis) - seen.fetched_at < coolDownMillis) return Option.none()
      return Option.some(yield* unlessJustFailed)
    })
  }
  return keys
})

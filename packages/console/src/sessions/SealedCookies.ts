/**
 * Cookies, and links of invitations, that only the console can read: encrypted JWTs (JWE, `dir` with A256GCM).
 *
 * One key encrypts all of them. Each names its purpose as audience and is accepted for that purpose only, so neither a
 * sign-in attempt nor a link can be replayed as a session.
 */
import { Clock, Context, Effect, Layer, type Option, Redacted } from "effect"
import { EncryptJWT, type JWTPayload, jwtDecrypt } from "jose"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import { OpenedCookies } from "./OpenedCookies.ts"

export type CookiePurpose = "session" | "sign-in"
type Purpose = CookiePurpose | "invitation"

export class SealedCookies extends Context.Service<
  SealedCookies,
  {
    /** `until`: expiry in milliseconds since 1970. */
    readonly seal: (purpose: Purpose, content: JWTPayload, until: number) => Effect.Effect<string>
    /** `None` for text that the console did not seal, for another purpose, or expired. */
    readonly open: (purpose: Purpose, text: string) => Effect.Effect<Option.Option<JWTPayload>>
  }
>()("@narthex/console/SealedCookies") {
  static readonly layer = Layer.effect(
    SealedCookies,
    Effect.gen(function* () {
      const key = Redacted.value((yield* ConsoleSettings).cookie_key)
      if (key.length !== 32) return yield* Effect.die(new Error("The cookie key must have 32 bytes."))
      const opened = new OpenedCookies()

      const decrypted = (purpose: Purpose, text: string, now: number) =>
        Effect.tryPromise(() =>
          jwtDecrypt(text, key, {
            audience: purpose,
            currentDate: new Date(now),
            requiredClaims: ["exp"],
            keyManagementAlgorithms: ["dir"],
            contentEncryptionAlgorithms: ["A256GCM"]
          })
        ).pipe(Effect.map(({ payload }) => payload))

      return SealedCookies.of({
        seal: (purpose, content, until) =>
          Effect.promise(() =>
            new EncryptJWT(content)
              .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
              .setAudience(purpose)
              .setExpirationTime(Math.floor(until / 1000))
              .encrypt(key)
          ),
        open: (purpose, text) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const known = purpose === "session" ? opened.find(text, now) : undefined
            if (known !== undefined) return Effect.succeedSome(known)
            return Effect.option(
              Effect.tap(decrypted(purpose, text, now), (content) =>
                Effect.sync(() => {
                  if (purpose === "session") opened.add(text, content)
                })
              )
            )
          })
      })
    })
  )
}

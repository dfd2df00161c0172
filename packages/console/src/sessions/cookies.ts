/**
 * The console's two cookies and their attributes.
 *
 * `__Host-` binds a cookie to its host and requires `Secure`. Browsers refuse both over plain http, so the names differ
 * there: a cookie set over http must never be accepted as the real one.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { CookiePurpose } from "./SealedCookies.ts"

const names = {
  session: { secure: "__Host-narthex", plain: "narthex" },
  "sign-in": { secure: "__Host-narthex-sign-in", plain: "narthex-sign-in" }
} as const satisfies Record<CookiePurpose, unknown>

/** `attempt`: each sign-in that has begun has a cookie of its own, so two tabs do not disturb one another. */
export const cookieName = (purpose: CookiePurpose, secure: boolean, attempt = ""): string =>
  `${names[purpose][secure ? "secure" : "plain"]}${attempt === "" ? "" : `-${attempt}`}`

export const presentedCookie = Effect.fnUntraced(function* (purpose: CookiePurpose, attempt = "") {
  const { secure } = yield* ConsoleSettings
  const request = yield* HttpServerRequest.HttpServerRequest
  return request.cookies[cookieName(purpose, secure, attempt)]
})

/** The attempts that the browser has cookies of. */
export const presentedAttempts = Effect.gen(function* () {
  const { secure } = yield* ConsoleSettings
  const { cookies } = yield* HttpServerRequest.HttpServerRequest
  const prefix = `${cookieName("sign-in", secure)}-`
  return Object.keys(cookies)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
})

const attributes = (secure: boolean) => ({ httpOnly: true, secure, sameSite: "lax", path: "/" }) as const

/** Sets the cookie for `seconds`. */
export const withCookie = (
  response: HttpServerResponse.HttpServerResponse,
  { attempt, purpose, seconds, secure, value }: CookieToSet
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, cookieName(purpose, secure, attempt), value, {
    ...attributes(secure),
    maxAge: `${Math.max(0, Math.floor(seconds))} seconds`
  })

export interface CookieToSet {
  readonly purpose: CookiePurpose
  readonly attempt?: string
  readonly value: string
  readonly seconds: number
  readonly secure: boolean
}

export const withoutCookie = (
  response: HttpServerResponse.HttpServerResponse,
  purpose: CookiePurpose,
  secure: boolean,
  attempt = ""
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, cookieName(purpose, secure, attempt), "", {
    ...attributes(secure),
    maxAge: 0
  })

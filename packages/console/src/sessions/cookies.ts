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

export const cookieName = (purpose: CookiePurpose, secure: boolean): string =>
  names[purpose][secure ? "secure" : "plain"]

export const presentedCookie = Effect.fnUntraced(function* (purpose: CookiePurpose) {
  const { secure } = yield* ConsoleSettings
  const request = yield* HttpServerRequest.HttpServerRequest
  return request.cookies[cookieName(purpose, secure)]
})

const attributes = (secure: boolean) => ({ httpOnly: true, secure, sameSite: "lax", path: "/" }) as const

/** Sets the cookie for `seconds`. */
export const withCookie = (
  response: HttpServerResponse.HttpServerResponse,
  { purpose, seconds, secure, value }: CookieToSet
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, cookieName(purpose, secure), value, {
    ...attributes(secure),
    maxAge: `${Math.max(0, Math.floor(seconds))} seconds`
  })

export interface CookieToSet {
  readonly purpose: CookiePurpose
  readonly value: string
  readonly seconds: number
  readonly secure: boolean
}

export const withoutCookie = (
  response: HttpServerResponse.HttpServerResponse,
  purpose: CookiePurpose,
  secure: boolean
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, cookieName(purpose, secure), "", {
    ...attributes(secure),
    maxAge: 0
  })

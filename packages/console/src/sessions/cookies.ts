/**
 * The console's two cookies and their attributes.
 *
 * `__Host-` binds a cookie to its host and requires `Secure`. Browsers refuse both over plain http, so the names differ
 * there: a cookie set over http must never be accepted as the real one. They also have the port, because all ports of a host
 * share cookies, and two consoles on one machine would sign each other's users out.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { CookiePurpose } from "./SealedCookies.ts"

type Settings = Pick<ConsoleSettings["Service"], "cookie_name" | "secure">

/** `attempt`: each sign-in that has begun has a cookie of its own, so two tabs do not disturb one another. */
export const cookieName = (purpose: CookiePurpose, { cookie_name }: Settings, attempt = ""): string =>
  [cookie_name, ...(purpose === "session" ? [] : [purpose]), ...(attempt === "" ? [] : [attempt])].join("-")

export const presentedCookie = Effect.fnUntraced(function* (purpose: CookiePurpose, attempt = "") {
  const settings = yield* ConsoleSettings
  const request = yield* HttpServerRequest.HttpServerRequest
  return request.cookies[cookieName(purpose, settings, attempt)]
})

/** The attempts that the browser has cookies of. */
export const presentedAttempts = Effect.gen(function* () {
  const settings = yield* ConsoleSettings
  const { cookies } = yield* HttpServerRequest.HttpServerRequest
  const prefix = `${cookieName("sign-in", settings)}-`
  return Object.keys(cookies)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
})

const attributes = ({ secure }: Settings) => ({ httpOnly: true, secure, sameSite: "lax", path: "/" }) as const

/** Sets the cookie for `seconds`. */
export const withCookie = (
  response: HttpServerResponse.HttpServerResponse,
  { attempt, purpose, seconds, settings, value }: CookieToSet
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, cookieName(purpose, settings, attempt), value, {
    ...attributes(settings),
    maxAge: `${Math.max(0, Math.floor(seconds))} seconds`
  })

export interface CookieToSet {
  readonly purpose: CookiePurpose
  readonly attempt?: string
  readonly value: string
  readonly seconds: number
  readonly settings: Settings
}

export const withoutCookie = (
  response: HttpServerResponse.HttpServerResponse,
  purpose: CookiePurpose,
  settings: Settings,
  attempt = ""
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, cookieName(purpose, settings, attempt), "", {
    ...attributes(settings),
    maxAge: 0
  })

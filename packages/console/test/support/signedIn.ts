/** A signed-in browser: its cookie is encrypted as the console does, with the content that a test chooses. */
import { Effect, Redacted } from "effect"
import { EncryptJWT, type JWTPayload } from "jose"
import { Api, type Someone } from "./Api.ts"
import { Browser } from "./Browser.ts"
import { consoleUrl, cookieKey } from "./Console.ts"

export interface CookieContent {
  readonly id: string
  readonly access_token: string
  readonly org_id: string
  readonly issued_at: number
  readonly expires_at: number
  readonly refresh_until: number
}

export const sealed = (content: CookieContent, purpose = "session", key = cookieKey) =>
  sealedAs({ ...content }, purpose, key)

/** `seconds`: from now until it expires. */
export const sealedAs = (content: JWTPayload, purpose: string, key: Redacted.Redacted<Uint8Array>, seconds = 3600) =>
  Effect.promise(() =>
    new EncryptJWT(content)
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setAudience(purpose)
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .encrypt(Redacted.value(key))
  )

let sessions = 0

/** A browser of this person, in the organization in which they act. */
export const browserOf = Effect.fnUntraced(function* (
  person: Someone,
  more: Partial<CookieContent> & { readonly cookie?: string } = {}
) {
  const { cookie, ...content } = more
  const { client, org, token } = person
  const now = Date.now()
  sessions += 1
  const session = {
    id: `session-${sessions}`,
    access_token: token,
    org_id: org,
    issued_at: now - 10_000,
    expires_at: now + 15 * 60_000,
    refresh_until: now + 12 * 3_600_000,
    ...content
  }
  const browser = new Browser(yield* consoleUrl)
  browser.cookies.set(cookie ?? browser.session, yield* sealed(session))
  return { browser, client, person, org, session, home: `/orgs/${org}` }
})

/** Signed in as `email`, in the personal organization. */
export const signedInAs = Effect.fnUntraced(function* (
  email: string,
  more: Partial<CookieContent> & { readonly cookie?: string } = {}
) {
  const { person } = yield* Api
  return yield* browserOf(yield* Effect.promise(() => person(email)), more)
})

/** Calls of the API as its clients make them. */
import { Effect } from "effect"

export interface Answer {
  readonly status: number
  // Bodies are read member by member by tests that assert on each.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

/** A call that hangs must not hang the test. */
const limit = 30_000

export const ask = (url: string, method: string, path: string, token?: string, body?: unknown) =>
  Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      signal: AbortSignal.timeout(limit),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
  })

/** Signs in with an ID token: the session's token, and who that is. */
export const signIn = (url: string, id_token: string) =>
  Effect.gen(function* () {
    const { body, status } = yield* ask(url, "POST", "/v1/auth/exchange", undefined, { id_token })
    if (status !== 200) throw new Error(`Signing in was answered with ${status}: ${JSON.stringify(body)}`)
    return { token: String(body.access_token), user: String(body.user.id) }
  })

/** The landing page, sign-in at a provider, the page of pending accounts, and sign-out. */
import { ClientCredential } from "@narthex/api"
import { Clock, Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { type ApiRefused, calling } from "../api/ApiRefusal.ts"
import { newFormToken } from "../api/formToken.ts"
import { ConsoleSettings, callbackPath } from "../ConsoleConfig.ts"
import { Relays } from "../relay/Relays.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { emailNotAllowedPage, notFoundPage, pageRefusals } from "../requests/refusals.tsx"
import { sessionOf } from "../sessions/ConsoleSession.ts"
import { presentedAttempts, presentedCookie, withCookie, withoutCookie } from "../sessions/cookies.ts"
import { invitedAt } from "../sessions/invitationLinks.ts"
import { SealedCookies } from "../sessions/SealedCookies.ts"
import { attemptLifetimeMillis, SignIn, SignInAttempt, type SignInFailed } from "../sessions/SignIn.ts"
import { currentSession, signedIn, withoutSession, withSession } from "../sessions/signedIn.ts"
import { Landing, MessagePage, PendingPage, SignInPage } from "../views/Landing.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"
import { returnPath, withReturn } from "../web/returnTo.ts"

const queryOf = (url: string) => url.slice(url.indexOf("?") + 1 || url.length)

const landing = Effect.map(currentSession, (session) =>
  Option.isSome(session) ? seeOther("/projects") : page(<Landing />)
)

const choose = Effect.gen(function* () {
  const { providers } = yield* ConsoleSettings
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const to = returnPath(new URLSearchParams(queryOf(url)).get("return_to"))
  return page(
    <SignInPage
      invited={yield* invitedAt(to)}
      providers={providers}
      hrefOf={(id) => withReturn(`/sign-in/${encodeURIComponent(id)}`, to)}
      forCommandLine={to?.startsWith("/cli/authorize?") === true}
    />
  )
})

const again = { href: "/sign-in", label: "Start again" }

const failed = (failure: SignInFailed) =>
  Effect.as(
    Effect.logWarning(`A sign-in at ${failure.provider} failed to ${failure.step}`, failure.cause),
    failure.code === "access_denied"
      ? page(
          <MessagePage title="Sign-in cancelled" next={again}>
            <p>You are not signed in.</p>
          </MessagePage>,
          { status: 403 }
        )
      : page(
          <MessagePage title="Sign-in failed" next={again}>
            <p>The identity provider could not be reached, or its answer did not match this sign-in.</p>
          </MessagePage>,
          { status: failure.step === "begin" ? 503 : 400 }
        )
  )

/** The name of an attempt's cookie: the beginning of its state, which the provider sends back. */
const attemptNamed = (state: string | null): string => /^[\w-]{43}$/.exec(state ?? "")?.[0].slice(0, 12) ?? "unknown"

/** The most attempts that may be open. Their cookies are in the head of every request, which has a bound. */
const mostAttempts = 5

const begin = Effect.gen(function* () {
  const settings = yield* ConsoleSettings
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { provider = "" } = yield* HttpRouter.params
  const to = returnPath(new URLSearchParams(queryOf(url)).get("return_to"))
  const { attempt, location } = yield* (yield* SignIn).begin(provider, to)
  const until = (yield* Clock.currentTimeMillis) + attemptLifetimeMillis
  const value = yield* (yield* SealedCookies).seal("sign-in", { ...attempt }, until)
  const others = yield* presentedAttempts
  const superfluous = others.slice(0, Math.max(0, others.length - mostAttempts + 1))
  const response = superfluous.reduce((so, other) => withoutCookie(so, "sign-in", settings, other), seeOther(location))
  const seconds = attemptLifetimeMillis / 1000
  return withCookie(response, { purpose: "sign-in", attempt: attemptNamed(attempt.state), value, seconds, settings })
}).pipe(Effect.catchTags({ SignInFailed: failed, UnknownProvider: () => Effect.succeed(notFoundPage(false)) }))

const attemptOf = Effect.fnUntraced(function* (name: string) {
  const cookie = yield* presentedCookie("sign-in", name)
  if (cookie === undefined) return Option.none<SignInAttempt>()
  const content = yield* (yield* SealedCookies).open("sign-in", cookie)
  return Option.flatMap(content, Schema.decodeUnknownOption(SignInAttempt))
})

const noAttempt = Effect.map(ConsoleSettings, ({ origin }) =>
  page(
    <MessagePage title="This sign-in has expired" next={{ href: `${origin}/sign-in`, label: "Start again" }}>
      <p>It took longer than ten minutes, or it started in another browser or at another address of the console.</p>
    </MessagePage>,
    { status: 400 }
  )
)

const refusedAtTheApi = (refusal: ApiRefused) =>
  refusal.code === "email_not_allowed"
    ? emailNotAllowedPage(refusal)
    : page(
        <MessagePage title="Sign-in failed" next={again} request_id={refusal.request_id}>
          <p>{refusal.detail}</p>
        </MessagePage>,
        { status: refusal.status }
      )

/** Each sign-in makes a new session id, so that an id planted before the sign-in is worthless (session fixation). */
const finish = Effect.gen(function* () {
  const settings = yield* ConsoleSettings
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const name = attemptNamed(new URLSearchParams(queryOf(url)).get("state"))
  const found = yield* attemptOf(name)
  // The person may have signed in since, for example when the page is loaded again.
  if (Option.isNone(found)) return Option.isSome(yield* currentSession) ? seeOther("/projects") : yield* noAttempt
  const attempt = found.value
  const answered = Effect.gen(function* () {
    const idToken = yield* (yield* SignIn).finish(attempt, queryOf(url))
    const answer = yield* calling((api) =>
      api.auth.exchange({ payload: { id_token: idToken, provider: attempt.provider, nonce: attempt.nonce } })
    )
    const session = sessionOf(crypto.randomUUID(), answer, yield* Clock.currentTimeMillis)
    const to = answer.account_state === "pending" ? "/pending" : (attempt.return_to ?? "/projects")
    return yield* withSession(seeOther(to), session)
  }).pipe(
    Effect.catchTags({
      SignInFailed: failed,
      UnknownProvider: () => Effect.succeed(notFoundPage(false)),
      ApiRefused: (refusal) => Effect.succeed(refusedAtTheApi(refusal)),
      ApiUnreachable: (failure) => Effect.succeed(pageRefusals.failed(failure))
    })
  )
  return withoutCookie(yield* answered, "sign-in", settings, name)
})

/** The members of a provider's answer (RFC 6749 §4.1.2, RFC 9207). Other members would put facts about a person in an address. */
const answerMembers = ["code", "state", "iss", "error", "error_description", "error_uri"]

/**
 * The provider's page has posted its answer. The redirect makes it the answer of a GET.
 *
 * Pitfall: finishing the sign-in here. Browsers send no SameSite=Lax cookie with a form of another site, so there is no
 * attempt to compare with.
 */
const posted = Effect.gen(function* () {
  const { fields } = yield* Form.read
  const members = answerMembers.flatMap((name) => {
    const value = fields.get(name)
    return value === null ? [] : [[name, value] satisfies [string, string]]
  })
  return seeOther(`${callbackPath}?${new URLSearchParams(members)}`)
}).pipe(Effect.catch((failure) => Effect.succeed(pageRefusals.failed(failure))))

/** Clears the cookie even when the API cannot revoke the session. API keys are kept. */
const signOut = Effect.gen(function* () {
  const session = yield* currentSession
  if (Option.isSome(session)) {
    yield* (yield* Relays).endSession(session.value.id)
    yield* calling((api) => api.auth.logout({})).pipe(
      Effect.provideService(ClientCredential, session.value.access_token),
      Effect.timeout("5 seconds"),
      Effect.catch((failure) => Effect.logWarning("The session could not be revoked", failure))
    )
  }
  return yield* withoutSession(seeOther("/"))
})

const pending = signedIn(pageRefusals)(() =>
  Effect.gen(function* () {
    const { account_state, user } = yield* calling((api) => api.auth.whoami({}))
    if (account_state !== "pending") return seeOther("/projects")
    const { invitations } = yield* calling((api) => api.ownInvitations.list({ query: {} }))
    return page(<PendingPage email={user.email} invitations={invitations} form_token={newFormToken} />)
  })
)

export const signInRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/", answer: landing },
  { method: "GET", path: "/sign-in", answer: choose },
  { method: "GET", path: callbackPath, answer: finish },
  { method: "POST", path: callbackPath, answer: posted },
  { method: "GET", path: "/sign-in/:provider", answer: begin },
  { method: "POST", path: "/sign-out", answer: signOut },
  { method: "GET", path: "/pending", answer: pending }
]

/**
 * The sign-in page: the library redirects the browser here, and the answer to the form redirects back with an account.
 *
 * The form is shown every time, filled in with the address of the application's hint or else the last one. The last
 * address is in a cookie of the browser and proves nothing. The library's own cookie, bound to this path, identifies the
 * sign-in; another site cannot submit the form (SameSite=Lax).
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Option, Result, Schema, SchemaIssue } from "effect"
import type Provider from "oidc-provider"
import { DevAccount, decodeAccount, nameFor, type RecentAccounts } from "./DevAccount.ts"
import { errorPage, sendPage, signInPage } from "./pages.ts"
import { Refusal, readBody } from "./problem.ts"

export interface SignInContext {
  readonly id: string
  readonly name: string
  readonly provider: Provider
  readonly accounts: RecentAccounts
}

/** Where the library redirects browsers to. */
export const signInPath = "/sign-in"

const decode = Schema.decodeUnknownResult(DevAccount, { errors: "all" })
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const labels: Record<string, string> = { email: "The address", name: "The name" }

const mistakeIn = (error: Schema.SchemaError) =>
  issuesOf(error.issue)
    .issues.map(({ message, path }) => `${labels[String(path?.[0])] ?? "The form"} ${message}.`)
    .join(" ")

const lastCookie = (id: string) => `${id}-last`

/** The account that signed in last in this browser, to fill in the form. */
const lastAccount = (id: string, request: IncomingMessage) => {
  const prefix = `${lastCookie(id)}=`
  const pair = request.headers.cookie?.split(/; */).find((it) => it.startsWith(prefix))
  return pair === undefined ? Option.none<DevAccount>() : decodeAccount(pair.slice(prefix.length))
}

const text = (value: unknown) => (typeof value === "string" ? value : "")

/** Answers `GET` and `POST /sign-in/<uid>`. */
export const answerSignIn = Effect.fn("answerSignIn")(function* (
  { accounts, id, name, provider }: SignInContext,
  uid: string,
  request: IncomingMessage,
  response: ServerResponse
) {
  if (request.method !== "GET" && request.method !== "POST") {
    const detail = "Use GET or POST for the sign-in page."
    return yield* new Refusal({ code: "method_not_allowed", detail, allow: "GET, POST" })
  }
  const found = yield* Effect.result(Effect.tryPromise(() => provider.interactionDetails(request, response)))
  if (Result.isFailure(found) || found.success.uid !== uid) {
    return sendPage(response, 400, errorPage("This sign-in has ended or belongs to another browser."))
  }
  const { login_hint, redirect_uri, scope } = found.success.params
  // The library has compared the redirect with those of the client before it began the sign-in.
  const returnsTo = new URL(text(redirect_uri)).origin

  if (request.method === "GET") {
    const last = lastAccount(id, request)
    const hint = text(login_hint)
    const known = Option.filter(last, ({ email }) => hint === "" || email === hint)
    const form = {
      email: hint,
      name: "",
      email_verified: true,
      ...Option.getOrUndefined(
        Option.map(known, ({ email, email_verified, name }) => ({ email, email_verified, name }))
      )
    }
    return sendPage(response, 200, signInPage({ provider: name, returnsTo, ...form }), returnsTo)
  }

  const sent = new URLSearchParams(yield* readBody(request))
  if (sent.get("action") === "cancel") {
    const cancelled = { error: "access_denied", error_description: "The sign-in was cancelled." }
    return yield* Effect.promise(() => provider.interactionFinished(request, response, cancelled))
  }
  const email = sent.get("email")?.trim() ?? ""
  const form = { email, name: sent.get("name")?.trim() ?? "", email_verified: sent.has("email_verified") }
  const decoded = decode({ ...form, name: form.name === "" ? nameFor(email) || "?" : form.name })
  if (Result.isFailure(decoded)) {
    const mistake = mistakeIn(decoded.failure)
    return sendPage(response, 422, signInPage({ provider: name, returnsTo, mistake, ...form }), returnsTo)
  }
  const account = decoded.success
  accounts.set(account.sub, account)
  const grant = new provider.Grant({ accountId: account.sub, clientId: text(found.success.params.client_id) })
  grant.addOIDCScope(text(scope))
  const grantId = yield* Effect.promise(() => grant.save())
  response.appendHeader(
    "set-cookie",
    `${lastCookie(id)}=${account.encoded}; Path=${signInPath}; HttpOnly; SameSite=Lax; Max-Age=2592000`
  )
  const result = { login: { accountId: account.sub, remember: false }, consent: { grantId } }
  return yield* Effect.promise(() => provider.interactionFinished(request, response, result))
})

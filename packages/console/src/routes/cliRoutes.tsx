/**
 * The console's part in the command line's login (docs/design/identity.md I36–I41, docs/design/console.md W16).
 *
 * 1. The command line opens `/cli/authorize` with a state, a challenge and its loopback address. The console
 *    matches that address as raw text, before any URL parser reads it; an invalid one gets a page and never a redirect.
 * 2. A browser that is not signed in signs in first and returns. The page shows the requested key and waits.
 * 3. Authorize gets a code from the API and redirects the browser to the loopback address with it. Cancel redirects
 *    there with `error=access_denied`.
 *
 * Pitfall: redirecting to an origin that `form-action` does not allow. Browsers apply the policy to redirects too, so
 * the page's policy names the validated origin. A policy cannot name an IPv6 literal; for those a page with a link
 * replaces the redirect.
 */
import { AuthorizeCli } from "@narthex/api"
import { Effect, Option, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { calling, refusedWith } from "../api/ApiRefusal.ts"
import { payload } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { inActiveOrganization, type Visit } from "../requests/Visit.ts"
import { PlainPage } from "../shell/PlainPage.tsx"
import { CliAuthorizePage, lifetimes } from "../views/CliAuthorize.tsx"
import { MessagePage } from "../views/Landing.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** The query of the request, with the contract's rules. */
const { capability, code_challenge, code_challenge_method, name, redirect_uri, scope, state } = AuthorizeCli.fields
const CliRequest = Schema.Struct({
  redirect_uri,
  state,
  code_challenge,
  code_challenge_method,
  name,
  capability,
  scope
})
const fields = Object.keys(CliRequest.fields)

/** `None` for an invalid request. A repeated field is invalid, because two readers could take different values. */
const requestIn = (given: URLSearchParams): Option.Option<Readonly<Record<string, string>>> => {
  const named = fields.filter((field) => given.has(field))
  if (named.some((field) => given.getAll(field).length > 1)) return Option.none()
  const request = Object.fromEntries(named.map((field) => [field, given.get(field) ?? ""]))
  return Schema.decodeUnknownOption(CliRequest)(request)._tag === "Some" ? Option.some(request) : Option.none()
}

const origin = /^http:\/\/([^/]+):(\d+)/

/** The parts of a validated redirect URI. */
const target = (redirectUri: string) => {
  const [whole = "", host = "", port = ""] = origin.exec(redirectUri) ?? []
  return { origin: whole, port, isIpv6: host.startsWith("[") }
}

const refused = page(
  <MessagePage title="Invalid command-line login">
    <p>
      The link that opened this page is incomplete, or does not lead back to a program on your computer. Run{" "}
      <code>narthex login</code> again.
    </p>
  </MessagePage>,
  { status: 400 }
)

const used = page(
  <MessagePage title="This login was already used" signedIn>
    <p>
      Each login works once. Run <code>narthex login</code> again.
    </p>
  </MessagePage>,
  { status: 409 }
)

const answerCommandLine = (redirectUri: string, answer: Readonly<Record<string, string>>) => {
  const location = `${redirectUri}?${new URLSearchParams(answer)}`
  if (!target(redirectUri).isIpv6) return seeOther(location)
  return page(
    <PlainPage title="Back to the command line" refresh={{ seconds: 0, to: location }}>
      <h1>Back to the command line</h1>
      <p class="actions">
        <a class="button primary" href={location}>
          Continue
        </a>
      </p>
    </PlainPage>
  )
}

type Draft = Parameters<typeof CliAuthorizePage>[0]["draft"]

const authorizePage = Effect.fnUntraced(function* (
  visit: Visit,
  request: Readonly<Record<string, string>>,
  given: { readonly status: number; readonly draft?: Draft; readonly error?: string } = { status: 200 }
) {
  const { projects } = yield* calling((api) => api.projects.list({ query: {} }))
  const { isIpv6, origin, port } = target(request["redirect_uri"] ?? "")
  const { capability = "read_write", name = "", scope = "organization", ...carried } = request
  return page(
    <CliAuthorizePage
      frame={visit.frame}
      projects={projects}
      name={name}
      port={port}
      request={{ ...carried, name }}
      draft={given.draft ?? { capability, scope, lifetime: "90" }}
      error={given.error}
    />,
    { status: given.status, form_target: isIpv6 ? undefined : origin }
  )
})

const show = Effect.gen(function* () {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const request = requestIn(new URLSearchParams(url.split("?")[1] ?? ""))
  if (Option.isNone(request)) return refused
  return yield* inActiveOrganization((visit) => authorizePage(visit, request.value))
})

const isLifetime = (text: string) => lifetimes.some(({ value }) => value === text)

const approve = (visit: Visit, form: Form, request: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const lifetime = form.text("lifetime")
    const draft = { capability: form.text("capability"), scope: form.text("scope"), lifetime }
    // Another tab switched the organization after the page was shown: the person agreed to a different one.
    if (form.text("org_id") !== visit.frame.organization.id)
      return yield* authorizePage(visit, request, {
        status: 409,
        draft: { ...draft, scope: "organization" },
        error: "The organization has changed since this page was opened. Check the details before you authorize."
      })
    if (!isLifetime(lifetime))
      return yield* authorizePage(visit, request, { status: 422, error: "Choose one of the lifetimes." })
    const wanted = yield* payload(CliRequest, { ...request, capability: draft.capability, scope: draft.scope })
    const { code } = yield* calling((api) =>
      api.cli.authorize({
        payload: { ...wanted, ...(lifetime === "never" ? {} : { expires_in_days: Number(lifetime) }) }
      })
    )
    return answerCommandLine(wanted.redirect_uri, { code: Redacted.value(code), state: wanted.state })
  }).pipe(Effect.catchIf(refusedWith("conflict"), () => Effect.succeed(used)))

const decide = inActiveOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const request = requestIn(form.fields)
    if (Option.isNone(request)) return refused
    const { redirect_uri = "", state = "" } = request.value
    if (form.text("action") !== "authorize") return answerCommandLine(redirect_uri, { error: "access_denied", state })
    return yield* approve(visit, form, request.value)
  })
)

export const cliRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/cli/authorize", answer: show },
  { method: "POST", path: "/cli/authorize", answer: decide }
]

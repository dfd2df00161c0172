/**
 * The middleware around every route: refuses cross-origin mutations, reports the client to the API, sets the security
 * headers, and answers missing routes and failures with a page, or with a problem for API clients.
 */
import { ClientHeaders } from "@narthex/api"
import { Cause, Effect, Redacted } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { callerHeaders } from "../api/callerHeaders.ts"
import { ConsoleSettings, callbackPath } from "../ConsoleConfig.ts"
import { cookieName } from "../sessions/cookies.ts"
import { MessagePage } from "../views/Landing.tsx"
import { inTheme, page, problem } from "../web/answer.tsx"
import { sendsJson } from "../web/Form.ts"
import { isSameOrigin } from "../web/sameOrigin.ts"
import { securityHeaders } from "../web/securityHeaders.ts"
import { themeIn } from "../web/theme.ts"
import { visitorAddress } from "../web/visitorAddress.ts"
import { notFoundPage } from "./refusals.tsx"

type Request = HttpServerRequest.HttpServerRequest

const isApi = (request: Request) => request.url.startsWith("/api/") || sendsJson(request)

const crossSite = (request: Request) =>
  isApi(request)
    ? problem({ status: 403, code: "cross_site", title: "The request comes from another site." })
    : page(
        <MessagePage title="This form came from another site" next={{ href: "/", label: "Go to the home page" }}>
          <p>Nothing was changed. Open the console and send the form there.</p>
        </MessagePage>,
        { status: 403 }
      )

const missing = (request: Request, signedIn: boolean) =>
  isApi(request) ? problem({ status: 404, code: "not_found", title: "Not found." }) : notFoundPage(signedIn)

const broken = (request: Request) =>
  isApi(request)
    ? problem({ status: 500, code: "internal", title: "The console failed." })
    : page(
        <MessagePage title="Something went wrong" next={{ href: "/projects", label: "Go to your projects" }}>
          <p>The console failed. Try again. If it fails again, tell the operator the time of the failure.</p>
        </MessagePage>,
        { status: 500 }
      )

/** The answer of an identity provider is posted by its page. A redirect makes it a GET. */
const isReading = ({ method, url }: Request) =>
  method === "GET" || method === "HEAD" || (method === "POST" && url === callbackPath)

export const layerMiddleware = HttpRouter.middleware(
  Effect.gen(function* () {
    const settings = yield* ConsoleSettings
    const { console_token, origin, secure, trusted_hops } = settings
    const token = console_token === null ? undefined : Redacted.value(console_token)
    const headers = securityHeaders(secure)

    const callerOf = (request: Request) =>
      callerHeaders(token, visitorAddress(request, trusted_hops), request.headers["user-agent"])

    const isSameOriginRequest = ({ headers: { origin: from, "sec-fetch-site": site } }: Request) =>
      isSameOrigin({ origin: from, sec_fetch_site: site }, origin)

    return (route) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (!isReading(request) && !isSameOriginRequest(request)) return crossSite(request)
        return yield* Effect.provideService(route, ClientHeaders, callerOf(request)).pipe(
          Effect.catchCause((cause) =>
            Effect.gen(function* () {
              const [answer] = yield* HttpServerError.causeResponse(cause)
              if (Cause.hasInterrupts(cause)) return yield* Effect.failCause(cause)
              if (answer.status === 404) return missing(request, cookieName("session", settings) in request.cookies)
              yield* Effect.logError("A page failed", cause)
              return broken(request)
            })
          )
        )
      }).pipe(
        // A page may set a stricter or wider content security policy; it replaces the default.
        Effect.map((answer) => HttpServerResponse.setHeaders(answer, { ...headers, ...answer.headers })),
        Effect.flatMap((answer) =>
          Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => inTheme(answer, themeIn(cookies)))
        )
      )
  }),
  { global: true }
)

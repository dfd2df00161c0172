/** Answers to refused requests: pages for people, problems (RFC 9457) for programs. */
import { HttpServerResponse } from "effect/http"
import { type ApiFailure, ApiRefused } from "../api/ApiRefusal.ts"
import type { Refusals } from "../sessions/signedIn.ts"
import type { Frame } from "../shell/Frame.ts"
import { MessagePage } from "../views/Landing.tsx"
import { OtherOrganizationPage } from "../views/OtherOrganization.tsx"
import { page, problem, seeOther } from "../web/answer.tsx"
import { UnreadableBody } from "../web/Form.ts"
import { returnPath, withReturn } from "../web/returnTo.ts"

const home = { href: "/projects", label: "Go to your projects" }

/** Seconds until a page that needs the API tries again. */
const retryAfter = 10

const titles: Readonly<Record<number, string>> = {
  400: "Invalid request",
  403: "Permission denied",
  404: "Not found",
  409: "This is not possible now",
  422: "Invalid input",
  423: "Another operation is running",
  429: "Too many requests"
}

export const notFoundPage = (signedIn: boolean) =>
  page(
    <MessagePage
      title="Not found"
      signedIn={signedIn}
      next={signedIn ? home : { href: "/", label: "Go to the home page" }}
    >
      <p>This page does not exist, or it belongs to an organization that you are not a member of.</p>
    </MessagePage>,
    { status: 404 }
  )

/** The person is a member of the organization, but another one is active. */
export const otherOrganizationPage = (frame: Frame, to: Frame["organization"]) =>
  page(<OtherOrganizationPage frame={frame} to={to} />, { status: 409 })

const failedPage = (failure: ApiFailure | UnreadableBody, again = "/projects") => {
  if (failure instanceof UnreadableBody)
    return page(
      <MessagePage title="Invalid request" signedIn next={home}>
        <p>{failure.reason}</p>
      </MessagePage>,
      { status: failure.status }
    )
  if (!(failure instanceof ApiRefused))
    return HttpServerResponse.setHeader(
      page(
        <MessagePage
          title="The API is away"
          next={{ href: again, label: "Try again" }}
          retry={{ seconds: retryAfter, to: again }}
        >
          <p>
            The console is running, but the API behind it does not answer. Nothing was lost: databases, endpoints and
            API keys do not depend on this page.
          </p>
          <p class="soft" role="status">
            This page tries again every {retryAfter} seconds.
          </p>
        </MessagePage>,
        { status: 503 }
      ),
      "retry-after",
      `${retryAfter}`
    )
  if (failure.status === 404) return notFoundPage(true)
  const { detail, request_id, status } = failure
  return page(
    <MessagePage title={titles[status] ?? "Something went wrong"} signedIn next={home} request_id={request_id}>
      <p>{detail}</p>
    </MessagePage>,
    { status: status >= 400 && status <= 599 ? status : 500 }
  )
}

export const emailNotAllowedPage = (refusal: ApiRefused) =>
  page(
    <MessagePage
      title="This email address cannot sign in"
      next={{ href: "/sign-in", label: "Use another account" }}
      request_id={refusal.request_id}
    >
      <p>Sign-in is limited to an allowlist that does not contain your email address. Ask the operator to add it.</p>
    </MessagePage>,
    { status: 403 }
  )

export const pageRefusals: Refusals = {
  signInRequired: ({ method, url }) => seeOther(withReturn("/sign-in", method === "GET" ? returnPath(url) : undefined)),
  pending: () => seeOther("/pending"),
  emailNotAllowed: emailNotAllowedPage,
  failed: failedPage,
  retries: true
}

const asProblem = ({ code, detail, request_id, status }: ApiRefused) =>
  problem({ status, code, title: detail, detail, ...(request_id === undefined ? {} : { request_id }) })

const formCodes = {
  400: "malformed_request",
  413: "body_too_large",
  415: "unsupported_media_type",
  422: "invalid_request"
} as const

export const problemRefusals: Refusals = {
  signInRequired: () =>
    problem({
      status: 401,
      code: "unauthenticated",
      title: "No session.",
      detail: "Sign in to the console, then try again."
    }),
  pending: asProblem,
  emailNotAllowed: asProblem,
  failed: (failure) => {
    if (failure instanceof ApiRefused) return asProblem(failure)
    if (failure instanceof UnreadableBody)
      return problem({ status: failure.status, code: formCodes[failure.status], title: failure.reason })
    return HttpServerResponse.setHeader(
      problem({ status: 503, code: "unavailable", title: failure.message }),
      "retry-after",
      "5"
    )
  },
  retries: false
}

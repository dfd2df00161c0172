/** Responses: a page, a redirect after a form, a problem or JSON for API clients. No response is cached. */
import { HttpBody, HttpServerResponse } from "effect/http"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { contentSecurityPolicy } from "./securityHeaders.ts"
import { type ThemeChoice, themed } from "./theme.ts"

const html = "text/html; charset=utf-8"
const uncached = { "cache-control": "no-store" } as const

export interface PageOptions {
  readonly status?: number
  /** Another origin to which a form of the page may be redirected. */
  readonly form_target?: string | undefined
}

export const page = (view: VNode, { form_target, status = 200 }: PageOptions = {}) =>
  HttpServerResponse.text(`<!doctype html>${renderToString(view)}`, {
    status,
    contentType: html,
    headers: { ...uncached, "content-security-policy": contentSecurityPolicy(form_target) }
  })

/** A page in the theme that the person chose; any other answer as it is. */
export const inTheme = (answer: HttpServerResponse.HttpServerResponse, choice: ThemeChoice) => {
  const { body } = answer
  if (choice === "system" || body._tag !== "Uint8Array" || !body.contentType.startsWith("text/html")) return answer
  return HttpServerResponse.setBody(answer, HttpBody.text(themed(new TextDecoder().decode(body.body), choice), html))
}

/** 303: the browser fetches the location with GET. */
export const seeOther = (location: string) =>
  HttpServerResponse.empty({ status: 303, headers: { ...uncached, location } })

export interface ProblemBody {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail?: string
  readonly request_id?: string
}

/** A problem (RFC 9457) like those of the API. */
export const problem = (body: ProblemBody) =>
  HttpServerResponse.jsonUnsafe(
    { type: `urn:narthex:problem:${body.code}`, ...body },
    {
      status: body.status,
      contentType: "application/problem+json",
      headers: { ...uncached, ...(body.status === 401 ? { "www-authenticate": 'Bearer realm="narthex"' } : {}) }
    }
  )

export const json = (body: unknown) => HttpServerResponse.jsonUnsafe(body, { headers: uncached })

/** The requests and replies of the test's control plane. */
import { type ProblemCode, problemCatalog } from "@narthex/api"

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly authorization: string | undefined
  readonly userAgent: string | undefined
  readonly lastEventId: string | undefined
  readonly idempotencyKey: string | undefined
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const problem = (code: ProblemCode, more: Readonly<Record<string, unknown>> = {}): Reply => ({
  status: problemCatalog[code].status,
  body: {
    type: `urn:narthex:problem:${code}`,
    title: problemCatalog[code].title,
    status: problemCatalog[code].status,
    code,
    request_id: "req_test",
    ...more
  }
})

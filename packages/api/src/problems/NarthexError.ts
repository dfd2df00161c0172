/**
 * The error of programs without Effect: a refusal of the API, or a failure of the client itself, told apart by `code`
 * (docs/design/client.md L6–L9).
 *
 * A refusal has the code of `problemCatalog`, or a code of a newer server. A failure of the client has a code of
 * `clientFailures`, which no server sends.
 */
import type { ProblemCode } from "./problemCatalog.ts"

interface ClientFailure {
  readonly title: string
  readonly next: string
}

/** Failures of a call that are no refusals. Codes are stable, like those of `problemCatalog`. */
export const clientFailures = {
  unreachable: {
    title: "The API cannot be reached.",
    next: "Check baseUrl and that the server is running. A call that changes something may have had its effect: read the state before you repeat it, or repeat it with the same idempotencyKey."
  },
  timed_out: {
    title: "The call took too long.",
    next: "Repeat it later, or allow it more time. A call that changes something may still have its effect."
  },
  aborted: {
    title: "The call was aborted by its signal.",
    next: "Nothing, if the program intended it. A call that changes something may have had its effect."
  },
  invalid_input: {
    title: "The input does not fit the contract, so nothing was sent.",
    next: "Correct the member that detail names."
  },
  unreadable_answer: {
    title: "The answer does not fit the contract.",
    next: "Check that baseUrl is a Narthex API and that no intermediary rewrites its answers; update the client if the server is newer."
  },
  secret_lost: {
    title: "The call had its effect, but its secret was in an answer that was lost.",
    next: "Read body for the ids of what exists, revoke it, and make the call again with another idempotency key."
  },
  session_not_stored: {
    title: "The session was refreshed, but onRefresh could not store it.",
    next: "Correct onRefresh. The client continues with the new token."
  }
} as const satisfies Record<string, ClientFailure>

export type ClientFailureCode = keyof typeof clientFailures

export interface NarthexErrorMembers<Code extends string = string> {
  readonly code: Code
  /** The HTTP status; left out where there is no answer. */
  readonly status?: number
  readonly title: string
  readonly detail?: string | undefined
  readonly request_id?: string | undefined
  readonly retry_after_ms?: number | undefined
  readonly body?: unknown
  readonly cause?: unknown
}

export class NarthexError<Code extends string = string> extends Error {
  override readonly name = "NarthexError"
  /** The stable code of the error, for programs to compare. */
  readonly code: Code
  /**
   * The HTTP status of the answer. It is 0 where nothing was answered, as for `invalid_input`, which has sent nothing: no
   * server may answer with it, so answer 500 then.
   */
  readonly status: number
  /** A short summary: the same sentence for every error with this code. */
  readonly title: string
  /** A sentence for a person, with what to do next. It is also the `message`. */
  readonly detail: string
  /** The method that failed, such as `projects.get`; `undefined` for errors that no call has thrown. */
  readonly call: string | undefined
  /** The id to report to the operator, if the server answered. */
  readonly requestId: string | undefined
  /** How long the server asks to wait before the next attempt, in milliseconds. */
  readonly retryAfter: number | undefined
  /** The body of the answer as JSON, with the members that some problems add, such as `errors`, `required`, `quota`. */
  readonly body: unknown

  constructor(members: NarthexErrorMembers<Code>) {
    const detail = members.detail ?? members.title
    super(detail, members.cause === undefined ? undefined : { cause: members.cause })
    this.code = members.code
    this.status = members.status ?? 0
    this.title = members.title
    this.detail = detail
    this.call = undefined
    this.requestId = members.request_id
    this.retryAfter = members.retry_after_ms
    this.body = members.body
  }
}

/**
 * Whether the error is a refusal of the API or a failure of the client.
 *
 * @example
 * import { createClient, isNarthexError } from "@narthex/api"
 * const client = createClient({ baseUrl: "https://api.example.com", credential: "nsk_…" })
 * await client.auth.whoami().catch((error: unknown) => {
 *   if (isNarthexError(error)) console.error(error.code, error.detail)
 * })
 */
export const isNarthexError = (
  error: unknown
): error is NarthexError<ProblemCode | ClientFailureCode | (string & {})> => error instanceof NarthexError

/** An error with the sentences of its code. `about` says what is known in addition and comes first. */
export const clientFailure = <Code extends ClientFailureCode>(
  code: Code,
  more: { readonly about?: string; readonly cause?: unknown; readonly status?: number; readonly body?: unknown } = {}
): NarthexError<Code> => {
  const { next, title } = clientFailures[code]
  const { about, ...members } = more
  return new NarthexError<Code>({ code, title, detail: [about ?? title, next].join(" "), ...members })
}

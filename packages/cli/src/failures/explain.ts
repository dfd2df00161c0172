/**
 * Turns the failure of a command into its output: a sentence, a hint, a code, and the name of the exit code.
 *
 * Causes are not part of the output; `--log-level debug` logs them.
 */
import { type AnyProblem, bodyOfProblem, type OtherProblem, type StreamRefused } from "@narthex/api"
import { Option, type Schema } from "effect"
import type { HttpClientError } from "effect/http"
import type { LocalFailure, Reported } from "./LocalFailure.ts"
import { hintOf } from "./problemHints.ts"

export type CommandFailure =
  | AnyProblem
  | OtherProblem
  | StreamRefused
  | HttpClientError.HttpClientError
  | Schema.SchemaError
  | LocalFailure

export interface Explanation {
  readonly sentence: string
  readonly hint: string | undefined
  /** The code of the problem. `undefined` if the API did not report one. */
  readonly code: string | undefined
  readonly request_id: string | undefined
  readonly exit: Reported["exit"]
  /** The output with `-o json`. */
  readonly json: unknown
}

export const explain = (failure: CommandFailure): Explanation => {
  switch (failure._tag) {
    case "HttpClientError":
      return failure.response === undefined
        ? local(
            "unreachable",
            `The API at ${origin(failure)} cannot be reached.`,
            "check that the server is running and that NARTHEX_URL is correct"
          )
        : local(
            "unreadable_response",
            `The response of the API at ${origin(failure)} could not be read.`,
            "run the command again"
          )
    case "SchemaError":
      return local(
        "unexpected_response",
        "The server's response is not what this version of narthex expects.",
        "check that NARTHEX_URL is the address of the API, or update narthex; --log-level debug shows the difference"
      )
    case "NotSignedIn":
      return local("not_signed_in", failure.message, failure.hint)
    case "UsageMistake":
      return local("usage", failure.message, failure.hint)
    case "Declined":
      return local("declined", failure.message, undefined)
    case "ContextFileUnusable":
      return local("credentials_file", failure.message, failure.hint)
    case "NoSuchContext":
      return local("no_such_context", failure.message, failure.hint)
    case "LoginEnded":
      return local("login_ended", failure.message, failure.hint)
    case "Stopped":
      return local("stopped", failure.message, failure.hint)
    case "NeedsSession": {
      const { hint, message, problem } = failure
      return { ...refusal({ ...problem, message }, encoded(problem)), hint }
    }
    case "NotFiltered":
      return local("not_filtered", failure.message, "the call is made; without --jq, -o json prints the whole answer")
    case "OtherProblem":
      return failure.code === "unknown"
        ? notTheApi(failure.status)
        : refusal({ ...failure, message: failure.detail ?? failure.title }, encoded(failure))
    case "StreamRefused":
      if (failure.code === "unknown" || failure.code === "not_an_event_stream") return notTheApi(failure.status)
      return refusal({ ...failure, message: failure.message }, { ...failure })
    default:
      return refusal({ ...failure, message: failure.detail ?? failure.title }, encoded(failure))
  }
}

/** An answer that is not a problem of the API: of a balancer before it, or of another server at a wrong address. */
const notTheApi = (status: number): Explanation =>
  local(
    "not_the_api",
    `The server's response with status ${status} is not one of the Narthex API.`,
    status >= 500
      ? "run the command again in a moment; if it stays, check that NARTHEX_URL is the address of the API"
      : "check that NARTHEX_URL is the address of the API; narthex context list shows that of each context"
  )

/**
 * A failure that the API did not report. Its code is part of the JSON alone: for people the exit code and the sentence
 * say the same.
 */
export const local = (code: LocalCode, sentence: string, hint: string | undefined): Explanation => ({
  sentence,
  hint,
  code: undefined,
  request_id: undefined,
  exit: exits[code],
  json: { code, detail: sentence, ...(hint === undefined ? {} : { hint }) }
})

/** The codes of failures that the API did not report, and the exit code of each. */
const exits = {
  usage: "usage",
  not_signed_in: "signed_out",
  declined: "declined",
  unreachable: "failed",
  unreadable_response: "failed",
  unexpected_response: "failed",
  not_the_api: "failed",
  credentials_file: "failed",
  no_such_context: "failed",
  login_ended: "failed",
  stopped: "failed",
  not_filtered: "failed"
} as const
type LocalCode = keyof typeof exits

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly request_id?: string
}

const refusal = (problem: Refusal, json: unknown): Explanation => ({
  sentence: problem.message,
  hint: hintOf(problem.code),
  code: problem.code,
  request_id: problem.request_id,
  exit: problem.status === 401 && problem.code !== "invalid_code" ? "signed_out" : "failed",
  json
})

/** The problem in the form in which the API sent it. */
const encoded = (problem: AnyProblem | OtherProblem): unknown => {
  const { _tag, ...members } = { ...problem }
  return Option.getOrElse(bodyOfProblem(problem), () => members)
}

const origin = (failure: HttpClientError.HttpClientError): string =>
  URL.canParse(failure.request.url) ? new URL(failure.request.url).origin : failure.request.url

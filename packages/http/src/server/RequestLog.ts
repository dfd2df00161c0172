/**
 * Metrics of requests by route, and lines of the log (docs/design/settings.md S10, S14). Neither has anything of a body, a
 * query or a credential.
 */
import { makeRecorder, type Recorder } from "@narthex/core"
import { Clock, Context, Effect, Metric } from "effect"

/** Which requests have a line: all, those that are refused or fail, or none. */
export type LoggedRequests = "all" | "errors" | "none"

/** Hosts have a log of requests already, so `none` unless a server says otherwise. */
export const LoggedRequests = Context.Reference<LoggedRequests>("@narthex/http/server/LoggedRequests", {
  defaultValue: () => "none"
})

const total = Metric.counter("narthex_http_requests_total", { description: "Answered requests.", incremental: true })
const seconds = Metric.histogram("narthex_http_request_seconds", {
  description: "Time from a request to the head of its answer.",
  boundaries: Metric.exponentialBoundaries({ start: 0.001, factor: 2, count: 14 })
})

/** A request that is answered. */
export interface Answered {
  /** The path of the contract, such as `/v1/projects/:project_id`; `other`: there is none. */
  readonly route: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** Reads the code of the problem in the answer of a refusal. Called for a line alone. */
  readonly code: () => string
  readonly request_id: string
  readonly address: string | null
}

/** Methods of routes; any other text is a client's, and would be a series of its own. */
const known: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

/** Long enough for every path of the contract. */
const longestPath = 300

/** Called when a request begins. The result is called with the answer, and returns the line to write, if there is one. */
export type RequestLog = () => (answered: Answered) => Effect.Effect<void> | undefined

export const makeRequestLog = (context: Context.Context<never>): RequestLog => {
  const clock = Context.get(context, Clock.Clock)
  const which = Context.get(context, LoggedRequests)
  const record: Recorder = makeRecorder(context)
  /** The metrics of each route, method and status. As many as the contract has. */
  const counters = new Map<string, typeof total>()
  const times = new Map<string, typeof seconds>()
  const nanos = () => clock.monotonicTimeNanosUnsafe()

  const measured = ({ method, route, status }: Answered, took: number) => {
    const named = known.has(method) ? method : "other"
    const key = `${named} ${route}`
    const time = times.get(key) ?? Metric.withAttributes(seconds, { method: named, route })
    times.set(key, time)
    record(time, took)
    const counter =
      counters.get(`${key} ${status}`) ?? Metric.withAttributes(total, { method: named, route, status: String(status) })
    counters.set(`${key} ${status}`, counter)
    record(counter, 1)
  }

  return () => {
    const began = nanos()
    return (answered) => {
      const took = Number(nanos() - began) / 1e9
      measured(answered, took)
      if (which === "none" || (which === "errors" && answered.status < 400)) return undefined
      const { code, path, ...rest } = answered
      const line = { ...rest, path: path.slice(0, longestPath), milliseconds: Math.round(took * 1_000) }
      return answered.status < 400
        ? Effect.annotateLogs(Effect.logInfo("Answered a request."), line)
        : Effect.annotateLogs(Effect.logInfo("Refused a request."), { ...line, code: code() })
    }
  }
}

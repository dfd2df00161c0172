/**
 * Requests to an API server over Node's HTTP: one answer as text, or one as lines for as long as it lasts.
 *
 * A request that the server refuses for now (429, 503) is sent again after `Retry-After`, and a read whose connection was
 * lost once more. Nothing else is repeated here: a change may have been made although its answer was lost.
 *
 * Pitfall: awaiting the next line of a silent answer. A connection that was lost without notice would be awaited for ever,
 * so every answer has a deadline.
 */
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http"
import { Agent, request } from "node:https"
import { createInterface } from "node:readline"
import { Duration, Effect, Redacted } from "effect"
import type { ApiAccess } from "../access/ApiAccess.ts"
import { ApiFailure } from "./ApiFailure.ts"

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** With its query. */
  readonly path: string
  readonly body?: object | undefined
  /** Left out: `application/json`. */
  readonly type?: string | undefined
}

interface Answer {
  readonly status: number
  readonly text: string
}

const answersWithin = Duration.seconds(30)
/** How often a request is sent that the server refuses for now. */
const tries = 6
const largestAnswer = 256 * 1024 ** 2

const notReached = (detail: string) => new ApiFailure({ status: 0, reason: "NotReached", detail })

/** Sends requests over connections that are kept until the scope closes. */
export const openTransport = Effect.fnUntraced(function* (access: ApiAccess) {
  const isPlain = access.server.startsWith("http:")
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() =>
      isPlain
        ? new PlainAgent({ keepAlive: true })
        : new Agent({
            keepAlive: true,
            ...(access.ca === undefined ? {} : { ca: access.ca }),
            ...(access.certificate === undefined
              ? {}
              : { cert: access.certificate.cert, key: Redacted.value(access.certificate.key) })
          })
    ),
    (agent) => Effect.sync(() => agent.destroy())
  )

  const headersOf = Effect.fnUntraced(function* (text: string | undefined, { type = "application/json" }: Call) {
    const token =
      access.token === undefined
        ? undefined
        : yield* Effect.mapError(access.token, ({ message }) => notReached(message))
    return {
      accept: "application/json",
      "user-agent": "narthex",
      // Node gives a DELETE no length by itself, and its body would count as the next request.
      ...(text === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(text) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` })
    }
  })

  /** The head of the answer. The connection closes with the scope, unless the answer was read to its end. */
  const answer = Effect.fnUntraced(function* (call: Call) {
    const text = call.body === undefined ? undefined : JSON.stringify(call.body)
    const headers = yield* headersOf(text, call)
    const url = new URL(access.server.replace(/\/$/, "") + call.path)
    const head = Effect.callback<IncomingMessage, ApiFailure>((resume) => {
      const send = isPlain ? plainRequest : request
      const sent = send(url, { method: call.method, agent, headers })
      sent.once("response", (found) => resume(Effect.succeed(found)))
      sent.on("error", (cause) => resume(Effect.fail(notReached(cause.message))))
      sent.end(text)
      return Effect.sync(() => sent.destroy())
    })
    return yield* Effect.acquireRelease(
      head,
      (found) =>
        Effect.sync(() => {
          if (!found.complete) found.destroy()
        }),
      { interruptible: true }
    )
  })

  const read = (found: IncomingMessage) =>
    Effect.callback<string, ApiFailure>((resume) => {
      const parts: Array<Buffer> = []
      let size = 0
      found.on("data", (part: Buffer) => {
        parts.push(part)
        size += part.length
        if (size > largestAnswer) found.destroy(new Error("the answer is too large"))
      })
      found.once("end", () => resume(Effect.succeed(Buffer.concat(parts).toString("utf8"))))
      found.on("error", (cause) => resume(Effect.fail(notReached(cause.message))))
    })

  const once = (call: Call) =>
    Effect.gen(function* () {
      const found = yield* answer(call)
      const after = Number(found.headers["retry-after"] ?? 1)
      return { status: found.statusCode ?? 0, text: yield* read(found), after: after >= 0 ? after : 1 }
    }).pipe(
      Effect.scoped,
      Effect.timeoutOrElse({
        duration: answersWithin,
        orElse: () => Effect.fail(notReached(`no answer within ${Duration.format(answersWithin)}`))
      })
    )

  const ask = Effect.fnUntraced(function* (call: Call): Effect.fn.Return<Answer, ApiFailure> {
    for (let tried = 1; ; tried++) {
      const got = yield* Effect.retry(once(call), { times: call.method === "GET" ? 1 : 0 })
      if ((got.status !== 429 && got.status !== 503) || tried === tries) return got
      yield* Effect.sleep(Duration.seconds(Math.min(got.after, 10)))
    }
  })

  /**
   * Gives each line of an answer to `onLine`, until the answer ends, the deadline is over, or `onLine` returns `true`. An
   * answer with another status than 200 is returned instead.
   */
  const lines = (path: string, deadline: Duration.Duration, onLine: (line: string) => boolean) =>
    Effect.gen(function* () {
      const found = yield* answer({ method: "GET", path })
      if (found.statusCode !== 200) {
        const refused: Answer = { status: found.statusCode ?? 0, text: yield* read(found) }
        return refused
      }
      yield* Effect.callback<void>((resume) => {
        const reader = createInterface({ input: found })
        const end = () => {
          reader.close()
          resume(Effect.void)
        }
        found.on("error", end).once("close", end)
        reader.on("line", (line) => {
          if (onLine(line)) end()
        })
        // An error of the answer is one of its reader as well.
        reader.on("error", end).once("close", end)
        return Effect.sync(end)
      })
    }).pipe(Effect.scoped, Effect.timeoutOrElse({ duration: deadline, orElse: () => Effect.undefined }))

  return { ask, lines }
})

export type Transport = Effect.Success<ReturnType<typeof openTransport>>

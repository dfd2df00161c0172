/** The request log: a line for each refused request, and metrics by route. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import { type Answered, LoggedRequests, makeRequestLog } from "../../src/server/RequestLog.ts"
import { memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { call } from "../support/wire.ts"

type Line = Readonly<Record<string, unknown>>
const lines: Array<Line> = []

const listening = Logger.layer([
  Logger.make(({ fiber, message }) => {
    lines.push({ message: String(message), ...fiber.getRef(References.CurrentLogAnnotations) })
  })
])

const about = ({ milliseconds: _, ...line }: Line = {}) => line

layer(memoryApi().pipe(Layer.provideMerge(listening), Layer.provideMerge(Layer.succeed(LoggedRequests, "errors"))), {
  excludeTestServices: true
})("the log of requests", (it) => {
  it.effect("a refused request is one line with its request id, route, status and code, and no query or body", () =>
    Effect.gen(function* () {
      const headers = { "x-request-id": "req-7" }
      lines.length = 0
      yield* call("GET", "/v1/projects/prj-unknown?secret=s3cret", { headers })
      assert.lengthOf(lines, 1)
      assert.deepStrictEqual(about(lines[0]), {
        message: "Refused a request.",
        request_id: "req-7",
        route: "/v1/projects/:project_id",
        method: "GET",
        path: "/v1/projects/prj-unknown",
        status: 401,
        code: "unauthenticated",
        address: "127.0.0.1"
      })
      assert.isNumber(lines[0]?.["milliseconds"])
    })
  )

  it.effect("a path that the contract does not have is one line, cut to a length, and of the route `other`", () =>
    Effect.gen(function* () {
      lines.length = 0
      yield* call("GET", `/v1/${"x".repeat(1_000)}`)
      assert.deepInclude(about(lines[0]), { route: "other", status: 404, code: "not_found" })
      assert.lengthOf(String(lines[0]?.["path"]), 300)
    })
  )

  it.effect("a request that is served has no line", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      lines.length = 0
      yield* owner.call("GET", "/v1/projects")
      assert.deepStrictEqual(lines, [])
    })
  )
})

describe("the metrics of requests", () => {
  const answered = (more: Partial<Answered>): Answered => ({
    route: "/v1/projects",
    method: "GET",
    path: "/v1/projects",
    status: 200,
    code: () => "conflict",
    request_id: "r",
    address: null,
    ...more
  })

  it.effect("requests are counted by method, route and status, and timed; a client's own method is `other`", () =>
    Effect.gen(function* () {
      const begin = makeRequestLog(yield* Effect.context<never>())
      const first = begin()
      yield* TestClock.adjust("3 seconds")
      first(answered({}))
      begin()(answered({ method: "x".repeat(50), route: "other", status: 404 }))
      begin()(answered({ method: "y".repeat(50), route: "other", status: 404 }))
      const found = (yield* Metric.snapshot).map(({ attributes, id, state }) => ({ id, attributes, state }))
      const counted = found.filter(({ id }) => id === "narthex_http_requests_total")
      assert.sameDeepMembers(
        counted.map(({ attributes, state }) => [
          attributes?.["method"],
          attributes?.["route"],
          attributes?.["status"],
          "count" in state ? Number(state.count) : 0
        ]),
        [
          ["GET", "/v1/projects", "200", 1],
          ["other", "other", "404", 2]
        ]
      )
      const timed = found.find(
        ({ attributes, id }) => id === "narthex_http_request_seconds" && attributes?.["method"] === "GET"
      )
      assert.strictEqual(timed !== undefined && "sum" in timed.state ? timed.state.sum : 0, 3)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect.each([
    ["all", 200, 1],
    ["all", 404, 1],
    ["errors", 200, 0],
    ["errors", 400, 1],
    ["none", 500, 0]
  ] as const)("%s logs a status %i in %i lines", ([which, status, count]) =>
    Effect.gen(function* () {
      lines.length = 0
      const begin = makeRequestLog(yield* Effect.context<never>())
      yield* begin()(answered({ status })) ?? Effect.void
      assert.lengthOf(lines, count)
    }).pipe(Effect.provideService(LoggedRequests, which), Effect.provide(listening))
  )
})

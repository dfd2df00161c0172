import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { EndpointId, ProjectId } from "@narthex/core"
import { DateTime, Effect, Fiber, Redacted, Result, Stream } from "effect"
import { within } from "../../../../test/harness/eventually.ts"
import { compile } from "../../src/allowlist/Allowlist.ts"
import { checkAllowlist } from "../../src/allowlist/checkAllowlist.ts"
import { ControlPlane } from "../../src/control-plane/ControlPlane.ts"
import { HttpControlPlane } from "../../src/control-plane/HttpControlPlane.ts"
import { parsePeer } from "../../src/networks/Address.ts"

const endpoint_id = EndpointId.make("ep-a")
const project_id = ProjectId.make("prj-a")

interface Asked {
  readonly method: string
  readonly url: string
  readonly authorization: string
  readonly accept: string
  readonly body: unknown
}

const read = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
}

/** A server that answers every call with `respond`, and a `ControlPlane` that calls it. */
const answering = Effect.fnUntraced(function* (respond: (response: ServerResponse) => void) {
  const asked: Array<Asked> = []
  const server = createServer(async (request, response) => {
    const { accept = "", authorization = "" } = request.headers
    const { method = "", url = "" } = request
    asked.push({ method, url, authorization, accept, body: await read(request) })
    respond(response)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  const api_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const control = yield* Effect.provide(ControlPlane, HttpControlPlane.layer({ api_url, token: Redacted.make("t") }))
  return { asked, control }
})

const json = (status: number, body: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

/** A problem as the API sends it. */
const problem = (status: number, code: string) => {
  const body = { type: `urn:narthex:problem:${code}`, title: "It is refused.", status, code, request_id: "r" }
  return (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify(body))
}

/** A refusal by something between the proxy and the API. */
const page = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "text/html" }).end("<h1>refused</h1>")

const admitted = Effect.suspend(() => {
  const open = { project_id, version: 1, rules: [], server_now: "2026-01-01T00:00:00Z" }
  const [list, peer] = [compile(open, 0), parsePeer("198.51.100.7")]
  assert.isDefined(list)
  assert.isDefined(peer)
  return Effect.fromResult(checkAllowlist(list, { endpoint_id, project_id, peer }, 0, 1))
})

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => (Result.isFailure(result) ? result.failure._tag : "answered"))

describe("HttpControlPlane", () => {
  it.live("each call sends the token and the body of the contract", () =>
    Effect.gen(function* () {
      const endpoint = { endpoint_id, project_id, branch_id: "br-a", region_id: "local", disabled: false }
      const resolved = { ...endpoint, current_state: "idle", address: null, generation: null, more: "ignored" }
      const one = yield* answering(json(200, resolved))
      assert.deepStrictEqual(
        { ...(yield* one.control.resolve(endpoint_id, undefined)), more: "ignored" },
        resolved as never
      )
      const snapshot = { project_id, version: 3, rules: [{ cidr: "x", expires_at: null }], server_now: "now" }
      const two = yield* answering(json(200, { allowlists: [snapshot] }))
      assert.deepStrictEqual({ ...(yield* two.control.allowlists([project_id]))[0] }, snapshot as never)
      const three = yield* answering(json(200, { address: "/run/a", generation: 4 }))
      assert.strictEqual((yield* three.control.wake(yield* admitted)).address, "/run/a")
      const four = yield* answering((response) => void response.writeHead(204).end())
      const last_active_at = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
      const used = { endpoint_id, generation: 4, connections: 2, busy: 1, idle_ms: 0 }
      yield* four.control.activity({ proxy_id: "p-1", sequence: 9, endpoints: [{ ...used, last_active_at }] })
      const call = { method: "POST", authorization: "Bearer t", accept: "*/*" }
      const body = {
        proxy_id: "p-1",
        sequence: 9,
        endpoints: [{ ...used, last_active_at: "2026-01-01T00:00:00.000Z" }]
      }
      assert.deepStrictEqual(
        [one, two, three, four].flatMap(({ asked }) => asked),
        [
          { ...call, url: "/v1/proxy/resolve", body: { endpoint_id } },
          { ...call, url: "/v1/proxy/allowlists", body: { project_ids: [project_id] } },
          { ...call, url: "/v1/proxy/endpoints/ep-a/wake", body: { client_address: "198.51.100.7" } },
          { ...call, url: "/v1/proxy/activity", body }
        ]
      )
    })
  )

  it.live("the status of a refused wake decides its meaning, whatever the body, but for a 503", () =>
    Effect.gen(function* () {
      const answers = [
        [403, "address_not_listed", "AddressNotListed"],
        [404, "not_found", "EndpointUnknown"],
        [409, "conflict", "EndpointDisabled"],
        [422, "quota_exceeded", "TooManyComputes"],
        [503, "unavailable", "WakeTimedOut"],
        [401, "invalid_token", "ControlPlaneUnreachable"],
        [500, "internal", "ControlPlaneUnreachable"],
        [503, "code_of_a_newer_server", "WakeTimedOut"],
        [404, "region_unknown", "EndpointUnknown"]
      ] as const
      for (const [status, code, tag] of answers)
        for (const answer of status === 503 ? [problem(status, code)] : [problem(status, code), page(status)]) {
          const { control } = yield* answering(answer)
          assert.strictEqual(yield* tagOf(control.wake(yield* admitted)), tag)
        }
    })
  )

  it.live("a 503 that a balancer answers to a wake means that the control plane cannot be reached", () =>
    Effect.gen(function* () {
      for (const answer of [page(503), json(503, { message: "no upstream" })]) {
        const { control } = yield* answering(answer)
        const refused = yield* Effect.flip(control.wake(yield* admitted))
        assert.strictEqual(refused._tag, "ControlPlaneUnreachable")
        assert.match(refused.message, /status 503$|status 503\.$/)
      }
    })
  )

  it.live("a refusal, an invalid answer and a missing server are ControlPlaneUnreachable", () =>
    Effect.gen(function* () {
      const missing = yield* answering(problem(404, "not_found"))
      assert.strictEqual(yield* tagOf(missing.control.resolve(endpoint_id, undefined)), "EndpointUnknown")
      const refusing = yield* answering(problem(401, "invalid_token"))
      const refused = yield* Effect.flip(refusing.control.allowlists([project_id]))
      assert.match(refused.message, /status 401 invalid_token/)
      const gateway = yield* answering(page(502))
      assert.match((yield* Effect.flip(gateway.control.allowlists([project_id]))).message, /status 502/)
      const nowhere = yield* answering(json(200, { address: "", generation: 1 }))
      assert.strictEqual(yield* tagOf(nowhere.control.wake(yield* admitted)), "ControlPlaneUnreachable")
      const silly = yield* answering(json(200, { allowlists: "all" }))
      assert.strictEqual(yield* tagOf(silly.control.allowlists([project_id])), "ControlPlaneUnreachable")
      const layer = HttpControlPlane.layer({ api_url: "http://127.0.0.1:1", token: Redacted.make("t") })
      const unreachable = yield* Effect.provide(ControlPlane, layer)
      assert.strictEqual(yield* tagOf(unreachable.resolve(endpoint_id, undefined)), "ControlPlaneUnreachable")
      assert.strictEqual(yield* tagOf(Effect.scoped(unreachable.changes)), "ControlPlaneUnreachable")
    })
  )

  it.live("a report of refused clients is sent as the contract says", () =>
    Effect.gen(function* () {
      const { asked, control } = yield* answering((response) => void response.writeHead(204).end())
      const refused = { endpoint_id, address: "198.51.100.7", reason: "address_not_listed", count: 2 }
      const report = { proxy_id: "p-1", sequence: 4, refusals: [{ ...refused, first_ms: 9, last_ms: 1 }] }
      yield* control.refusals(report)
      assert.deepStrictEqual(asked, [
        { method: "POST", url: "/v1/proxy/refusals", authorization: "Bearer t", accept: "*/*", body: report }
      ])
    })
  )

  it.live("a report is rejected by a control plane without the call, and not by one that is down", () =>
    Effect.gen(function* () {
      const report = { proxy_id: "p-1", sequence: 4, refusals: [] }
      for (const [status, tag] of [
        [404, "ReportRejected"],
        [405, "ReportRejected"],
        [422, "ReportRejected"],
        [413, "ReportRejected"],
        [401, "ControlPlaneUnreachable"],
        [429, "ControlPlaneUnreachable"],
        [500, "ControlPlaneUnreachable"],
        [503, "ControlPlaneUnreachable"]
      ] as const)
        for (const answer of [problem(status, "not_found"), page(status)]) {
          const { asked, control } = yield* answering(answer)
          assert.strictEqual(yield* tagOf(control.refusals(report)), tag, `${status}`)
          assert.lengthOf(asked, 1)
        }
    })
  )

  it.live("changes are streamed until the connection ends, without heartbeats and unknown events", () =>
    Effect.gen(function* () {
      const { promise: stream, resolve } = Promise.withResolvers<ServerResponse>()
      const { asked, control } = yield* answering((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
        resolve(response)
      })
      const heard = yield* Effect.forkChild(Effect.scoped(Effect.flatMap(control.changes, Stream.runCollect)))
      const response = yield* Effect.promise(() => stream)
      const change = (version: number) => `event: change\ndata: ${JSON.stringify({ project_id, version })}\n\n`
      response.write(`: heartbeat\n\n${change(1)}event: other\ndata: {}\n\nevent: endpoint\ndata: {"endpoint_id":`)
      response.write(`"ep-a","more":"ignored"}\n\nevent: cha`)
      response.end(`nge\ndata: {"project_id":"prj-a",\ndata: "version":2}\n\n: heartbeat\n\n`)
      assert.deepStrictEqual(yield* Fiber.join(heard), [
        { of: "allowlist", change: { project_id, version: 1 } },
        { of: "endpoint", change: { endpoint_id } },
        { of: "allowlist", change: { project_id, version: 2 } }
      ])
      assert.deepStrictEqual(asked, [
        {
          method: "GET",
          url: "/v1/proxy/changes",
          authorization: "Bearer t",
          accept: "text/event-stream",
          body: undefined
        }
      ])
    })
  )

  it.live("closing the scope of a subscription closes its connection even if the stream never ran", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<void>()
      const { control } = yield* answering((response) => {
        response.on("close", () => closed.resolve())
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      })
      yield* Effect.asVoid(Effect.scoped(control.changes))
      yield* Effect.promise(() => within("the server to see the end", closed.promise))
    })
  )
})

/** The stream of changes for proxies. Holds docs/design/proxy.md P9 and P37. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { everyServing, proxyToken } from "../support/apiOver.ts"
import { call } from "../support/wire.ts"
import { opened } from "./support/FetchStream.ts"
import { allRead, signedIn, streamApi } from "./support/streamApi.ts"

for (const serving of everyServing)
  layer(streamApi({}, { serving }), { excludeTestServices: true })("the stream of a proxy", (it) => {
    it.effect("an endpoint that is disabled or deleted and a changed allowlist are frames, and nothing else is", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("ada@example.com")
        // A feed that has not begun skips what is committed before.
        yield* allRead
        const stream = yield* opened({ token: proxyToken, path: "/v1/proxy/changes" })
        const { body } = yield* call("POST", "/v1/projects", { token, body: { name: "shop" } })
        const { endpoint, project } = body
        const path = `/v1/projects/${project.id}`
        yield* call("PATCH", `${path}/endpoints/${endpoint.id}`, { token, body: { disabled: true } })
        yield* call("POST", `${path}/ip-allow`, { token, body: { cidr: "203.0.113.0/24" } })
        yield* call("DELETE", `${path}/endpoints/${endpoint.id}`, { token })
        yield* stream.until("three frames", ({ events }) => events.length >= 3)
        assert.deepStrictEqual(
          stream.events.map(({ data, event }) => [event, JSON.parse(data ?? "")]),
          [
            ["endpoint", { endpoint_id: endpoint.id }],
            ["change", { project_id: project.id, version: 1 }],
            ["endpoint", { endpoint_id: endpoint.id }]
          ]
        )
      })
    )

    it.effect("a cancel request that a proxy hands over is a frame, with the address in its canonical spelling", () =>
      Effect.gen(function* () {
        yield* allRead
        const stream = yield* opened({ token: proxyToken, path: "/v1/proxy/changes" })
        const key_hash = "5a".repeat(32)
        const handOver = (client_address: string) =>
          call("POST", "/v1/proxy/cancels", { token: proxyToken, body: { key_hash, client_address } })
        assert.strictEqual((yield* handOver("no address")).status, 422)
        assert.strictEqual((yield* handOver("::ffff:203.0.113.9")).status, 204)
        yield* stream.until("the frame", ({ events }) => events.length >= 1)
        assert.deepStrictEqual(
          stream.events.map(({ data, event }) => [event, JSON.parse(data ?? "")]),
          [["cancel", { key_hash, client_address: "203.0.113.9" }]]
        )
      })
    )
  })

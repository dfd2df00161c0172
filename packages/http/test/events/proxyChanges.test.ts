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
  })

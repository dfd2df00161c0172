/**
 * Paths as they are written: one spelling reaches an endpoint, every other is an unknown path for every method.
 * Holds docs/design/authorization.md Z4; docs/design/library.md N11.
 */
import { assert, layer } from "@effect/vitest"
import { Api } from "@narthex/api"
import { Effect } from "effect"
import { everyServing, memoryApi } from "../support/apiOver.ts"
import { type Caller, founder, joined, key, project, refused } from "../support/story.ts"
import { bytes, call } from "../support/wire.ts"

const routes = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({ method: String(method), path: String(path) }))
)
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** A project with rules and an organization with a member, a key and an invitation; what each id of a path is. */
const world = Effect.fnUntraced(function* (who: Caller) {
  const { endpoint, id, main, path } = yield* project(who)
  yield* who.call("POST", `${path}/ip-allow`, { body: { cidr: "10.0.0.0/8" } })
  const member = yield* joined(who, "member")
  const made = yield* key(who)
  const invited = yield* who.call("POST", `/v1/orgs/${who.org_id}/invitations`, { body: { email: "x@example.com" } })
  const { body } = yield* who.call("GET", "/v1/auth/sessions")
  const ids: Record<string, string> = {
    org_id: who.org_id,
    user_id: member.user_id,
    invitation_id: invited.body.invitation.id,
    api_key_id: made.id,
    project_id: id,
    branch_id: main,
    endpoint_id: endpoint,
    session_id: body.sessions[0].id,
    cidr: "10.0.0.0%2F8",
    network: "10.0.0.0",
    prefix: "8"
  }
  const state = Effect.gen(function* () {
    const all = [path, `${path}/ip-allow`, `${path}/branches`, `${path}/endpoints`, "/v1/api-keys"]
    const more = [`/v1/orgs/${who.org_id}/members`, `/v1/orgs/${who.org_id}/invitations`, "/v1/auth/sessions"]
    const answers = yield* Effect.forEach([...all, ...more], (at) => who.call("GET", at))
    return answers.map(({ status, text }) => [status, text])
  })
  return { state, fill: (route: string) => route.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "x") }
})

for (const serving of everyServing) {
  /** A request of the Fetch standard has no fragment in its path. */
  const fragments = serving !== "fetch"

  layer(memoryApi({ idle: false, serving }), { excludeTestServices: true })("paths", (it) => {
    it.effect("a raw ; or # before the query is an unknown path for every method, and changes nothing", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { fill, state } = yield* world(who)
        const before = yield* state
        for (const { path } of routes.filter(({ method }) => method === "DELETE"))
          for (const odd of [";", ";keep=true", ";/branches/br-1", "/;x", ...(fragments ? ["#", "#x?y"] : [])])
            for (const method of methods) {
              const answer = yield* who.call(method, fill(path) + odd)
              if (method === "HEAD") assert.strictEqual(answer.status, 404, `${method} ${path}${odd}`)
              else refused(answer, 404, "not_found")
              assert.isUndefined(answer.headers["allow"])
            }
        assert.deepStrictEqual(yield* state, before)
      })
    )

    it.effect("an unknown path and an unknown object are one body", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const headers = { "x-request-id": "same" }
        const [first, ...others] = yield* Effect.forEach(
          [
            "/v1/projects/prj-unknown",
            "/v1/projects;x",
            fragments ? "/v1/projects#" : "/v1/x",
            "/nowhere",
            "/V1/PROJECTS"
          ],
          (path) => who.call("GET", path, { headers })
        )
        for (const answer of others) assert.strictEqual(answer.text, first?.text)
        assert.strictEqual(others.length, 4)
        assert.strictEqual(bytes(others[0] ?? assert.fail()), bytes(others[1] ?? assert.fail()))
      })
    )

    it.effect("paths are case-sensitive, and static segments are not escaped", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { fill, state } = yield* world(who)
        const before = yield* state
        for (const { method, path } of [
          ...routes,
          { method: "GET", path: "/docs" },
          { method: "GET", path: "/livez" }
        ]) {
          const escaped = path.replace(/\/([a-z])/, (_, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`)
          const upper = path.replace(/(^|\/)([a-z][^/]*)/g, (text: string) => text.toUpperCase())
          for (const odd of [escaped, upper]) {
            const answer = yield* who.call(method, fill(odd), method === "GET" ? {} : { body: {} })
            assert.strictEqual(answer.status, 404, `${method} ${odd}`)
          }
        }
        for (const path of ["/V1/proxy/changes", "/v1/Proxy/changes", "/v1/%70roxy/changes"])
          refused(yield* call("GET", path), 404, "not_found")
        assert.deepStrictEqual(yield* state, before)
      })
    )

    it.effect("an escaped ; or # is part of the id that it stands in", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { path } = yield* project(who)
        refused(yield* who.call("DELETE", `${path}/ip-allow/10.0.0.0%2F8%3Bx`), 422, "malformed_cidr")
        refused(yield* who.call("DELETE", `${path}/ip-allow/10.0.0.0%2F8%23x`), 422, "malformed_cidr")
        refused(yield* who.call("GET", "/v1/projects/prj%3Bx"), 404, "not_found")
        assert.strictEqual((yield* who.call("GET", "/v1/projects?x=;y&z=%23")).status, 200)
        assert.strictEqual((yield* who.call("GET", "/v1/projects?#")).status, 200)
      })
    )
  })
}

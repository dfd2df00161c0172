/** `Idempotency-Key`: the first answer again, never a second effect (docs/design/api.md). */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { long } from "../../../../test/harness/long.ts"
import { Ahead, everyServing, idToken, memoryApi } from "../support/apiOver.ts"
import { arrive, type Caller, finish, founder, joined, key, project, refused } from "../support/story.ts"
import { call } from "../support/wire.ts"

const once = (value: string, body?: unknown) => ({
  headers: { "idempotency-key": value },
  ...(body === undefined ? {} : { body })
})

const projectsOf = (who: Caller) =>
  Effect.map(who.call("GET", "/v1/projects"), ({ body }): number => body.projects.length)

for (const serving of everyServing)
  layer(memoryApi({ serving }), { excludeTestServices: true })("an idempotency key", (it) => {
    it.effect("an idempotency key replays the first answer of a creation, with status and location", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const first = yield* who.call("POST", "/v1/projects", once("a", { name: "p" }))
        const again = yield* who.call("POST", "/v1/projects", once("a", { name: "p" }))
        assert.deepStrictEqual([again.status, again.body], [201, first.body])
        assert.strictEqual(again.headers["location"], first.headers["location"])
        assert.strictEqual(again.headers["idempotent-replayed"], "true")
        assert.isUndefined(first.headers["idempotent-replayed"])
        assert.strictEqual(yield* projectsOf(who), 1)
      })
    )

    it.effect("an idempotency key with the same JSON in other bytes is 409, and the answer says why", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const sent = (raw: string) =>
          who.call("POST", "/v1/projects", {
            raw,
            headers: { "idempotency-key": "bytes", "content-type": "application/json" }
          })
        assert.strictEqual((yield* sent('{"name":"p","region":"local"}')).status, 201)
        for (const other of ['{"region":"local","name":"p"}', '{"name":"p", "region":"local"}']) {
          const answer = yield* sent(other)
          refused(answer, 409, "idempotency_conflict")
          assert.match(
            answer.body.detail,
            /Repeat the same bytes: the same JSON with other spaces or order is different/
          )
        }
        assert.strictEqual(yield* projectsOf(who), 1)
      })
    )

    it.effect("an idempotency key with another method, path or body is 409", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { path } = yield* project(who)
        yield* who.call("POST", `${path}/branches`, once("b", { name: "x" }))
        refused(yield* who.call("POST", `${path}/branches`, once("b", { name: "y" })), 409, "idempotency_conflict")
        refused(yield* who.call("POST", `${path}/sandboxes`, once("b", { name: "x" })), 409, "idempotency_conflict")
        refused(yield* who.call("PATCH", path, once("b", { name: "x" })), 409, "idempotency_conflict")
        assert.strictEqual((yield* who.call("GET", `${path}/branches`)).body.branches.length, 2)
      })
    )

    it.effect("a replay shows no secret", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const calls: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
          ["/v1/api-keys", { name: "k" }, ["secret"]],
          [`${place.path}/branches/${place.main}/credentials`, { access: "read_only" }, ["password", "connection_uri"]],
          [`${place.path}/sandboxes`, {}, ["password", "connection_uri"]]
        ]
        for (const [path, body, secrets] of calls) {
          const first = yield* who.call("POST", path, once(path, body))
          const again = yield* who.call("POST", path, once(path, body))
          assert.deepStrictEqual([first.status, again.status], [201, 201], first.text)
          for (const secret of secrets) {
            assert.isString(first.body[secret])
            assert.isNull(again.body[secret])
            assert.notInclude(again.text, first.body[secret])
          }
          assert.deepStrictEqual(again.body, { ...first.body, ...Object.fromEntries(secrets.map((it) => [it, null])) })
          assert.strictEqual(again.headers["cache-control"], "no-store")
        }
        const listed = yield* who.call("GET", "/v1/api-keys")
        assert.strictEqual(listed.body.api_keys.length, 1)
        const mine = yield* key(who)
        const rotation = `/v1/api-keys/${mine.id}/rotate`
        assert.isString((yield* who.call("POST", rotation, once("r"))).body.secret)
        assert.isNull((yield* who.call("POST", rotation, once("r"))).body.secret)
      })
    )

    it.effect("a replay comes before the look-up: a repeated DELETE gets its first answer", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { path } = yield* project(who)
        const first = yield* who.call("DELETE", path, once("d"))
        const again = yield* who.call("DELETE", path, once("d"))
        assert.deepStrictEqual([first.status, again.status, again.body], [202, 202, first.body])
        refused(yield* who.call("DELETE", path), 404, "not_found")
      })
    )

    it.effect("a replay comes after the rights: a demoted caller is refused", () =>
      Effect.gen(function* () {
        const owner = yield* founder()
        const who = yield* joined(owner, "member")
        assert.strictEqual((yield* who.call("POST", "/v1/projects", once("e", { name: "p" }))).status, 201)
        yield* owner.call("PATCH", `/v1/orgs/${owner.org_id}/members/${who.user_id}`, { body: { role: "viewer" } })
        refused(yield* who.call("POST", "/v1/projects", once("e", { name: "p" })), 403, "role_insufficient")
      })
    )

    it.effect("an idempotency key stores refusals below 500, but not 401, 403 and 423", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const replayed = Effect.fnUntraced(function* (method: string, path: string, body: unknown, status: number) {
          const first = yield* who.call(method, path, once(`${status} ${path}`.replaceAll(" ", "_"), body))
          const again = yield* who.call(method, path, once(`${status} ${path}`.replaceAll(" ", "_"), body))
          assert.deepStrictEqual([first.status, again.status], [status, status], first.text)
          assert.strictEqual(again.body.code, first.body.code)
          return again.headers["idempotent-replayed"]
        })
        assert.strictEqual(yield* replayed("POST", "/v1/projects", { name: "" }, 422), "true")
        assert.strictEqual(yield* replayed("DELETE", "/v1/projects/prj-x", undefined, 404), "true")
        const main = `${place.path}/branches/${place.main}`
        assert.strictEqual(yield* replayed("DELETE", main, undefined, 409), "true")
        const viewer = yield* joined(who, "viewer")
        const no = yield* viewer.call("POST", "/v1/projects", once("v", { name: "p" }))
        assert.strictEqual(no.status, 403)
        yield* who.call("PATCH", `/v1/orgs/${who.org_id}/members/${viewer.user_id}`, { body: { role: "member" } })
        const { body } = yield* viewer.call("POST", "/v1/auth/refresh")
        const promoted = yield* call("POST", "/v1/projects", { token: body.access_token, ...once("v", { name: "p" }) })
        assert.strictEqual(promoted.status, 201, "a refusal by rights is not stored")
      })
    )

    it.effect("an idempotency key belongs to its owner in an organization", () =>
      Effect.gen(function* () {
        const [one, two] = [yield* founder(), yield* founder()]
        for (const who of [one, two, yield* key(one)])
          assert.strictEqual((yield* who.call("POST", "/v1/projects", once("f", { name: "p" }))).status, 201)
        assert.deepStrictEqual([yield* projectsOf(one), yield* projectsOf(two)], [2, 1])
      })
    )

    it.effect("an idempotency key that is not 1 to 255 visible ASCII characters is 422; on reads it is ignored", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        for (const bad of ["x".repeat(256), "has space", "\u00e4"])
          refused(yield* who.call("POST", "/v1/projects", once(bad, { name: "p" })), 422, "invalid_request")
        assert.strictEqual((yield* who.call("GET", "/v1/projects", once("has space"))).status, 200)
        assert.strictEqual((yield* who.call("POST", "/v1/projects", once("x".repeat(255), { name: "p" }))).status, 201)
      })
    )

    it.effect("an idempotency key is ignored where tokens and codes are issued, and on anonymous calls", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        const made = yield* who.call("POST", "/v1/orgs", { body: { name: "Team" } })
        const body = { org_id: made.body.organization.id }
        const first = yield* who.call("POST", "/v1/auth/switch-org", once("g", body))
        const again = yield* who.call("POST", "/v1/auth/switch-org", once("g", body))
        assert.isUndefined(again.headers["idempotent-replayed"])
        assert.notStrictEqual(again.body.access_token, first.body.access_token)
        const exchanged = yield* call("POST", "/v1/auth/exchange", once("h", { id_token: idToken(who.email) }))
        const twice = yield* call("POST", "/v1/auth/exchange", once("h", { id_token: idToken(who.email) }))
        assert.notStrictEqual(exchanged.body.access_token, twice.body.access_token)
        const authorization = {
          redirect_uri: "http://127.0.0.1:43210/callback",
          state: "i".repeat(22),
          code_challenge: "c".repeat(43),
          name: "laptop"
        }
        assert.strictEqual((yield* who.call("POST", "/v1/cli/authorizations", once("i", authorization))).status, 201)
        refused(yield* who.call("POST", "/v1/cli/authorizations", once("i", authorization)), 409, "conflict")
      })
    )
  })

/** The calls wait for real seconds, so the short form makes them for one way of serving. */
for (const serving of long ? everyServing : (["server"] as const))
  layer(memoryApi({ idle: true, serving }), { excludeTestServices: true })(
    "an idempotency key on a busy branch",
    (it) => {
      it.effect("an idempotency key stores no 423: the same call succeeds once the branch is free", () =>
        Effect.gen(function* () {
          const who = yield* founder()
          const { body } = yield* who.call("POST", "/v1/projects", { body: { name: "p" } })
          const path = `/v1/projects/${body.project.id}/branches`
          const made = yield* who.call("POST", path)
          const busy = yield* who.call("DELETE", `${path}/${made.body.branch.id}`, once("busy"))
          refused(busy, 423, "resource_busy")
          assert.match(busy.headers["retry-after"] ?? "", /^[1-9]\d*$/)
          assert.strictEqual(busy.body.blocking_operation_id, made.body.operations[0].id)
          yield* finish(made.body.operations[0].id)
          const later = yield* who.call("DELETE", `${path}/${made.body.branch.id}`, once("busy"))
          assert.deepStrictEqual([later.status, later.headers["idempotent-replayed"]], [202, undefined])
        })
      )

      /** The mint of a credential that waits for a runner, under one key. */
      const slowMint = Effect.gen(function* () {
        const who = yield* founder()
        const { body } = yield* who.call("POST", "/v1/projects", { body: { name: "p" } })
        const path = `/v1/projects/${body.project.id}`
        yield* who.call("POST", `${path}/endpoints/${body.endpoint.id}/start`)
        const mint = who.call(
          "POST",
          `${path}/branches/${body.branch.id}/credentials`,
          once("slow", { access: "read_only" })
        )
        const first = yield* Effect.forkChild(mint)
        const applying = Effect.map(who.call("GET", `${path}/operations`), (answer): ReadonlyArray<string> => {
          const all: ReadonlyArray<{ readonly id: string; readonly action: string }> = answer.body.operations
          return all.filter(({ action }) => action === "apply_config").map(({ id }) => id)
        })
        yield* eventually(
          "the operation that the first call waits for",
          Effect.map(applying, (ids) => ids.length === 1)
        )
        return { first, mint, applying }
      })

      it.effect(
        "a call that waits after its commit is not run again: the repeated call replays it without secrets",
        () =>
          Effect.gen(function* () {
            const { applying, first, mint } = yield* slowMint
            const early = yield* mint
            assert.deepStrictEqual([early.status, early.headers["idempotent-replayed"]], [201, "true"])
            assert.isNull(early.body.password)
            yield* Effect.forEach(yield* applying, finish)
            const answer = yield* Fiber.join(first)
            assert.deepStrictEqual([answer.status, answer.headers["idempotent-replayed"]], [201, undefined])
            assert.isString(answer.body.password)
            assert.strictEqual(early.body.credential.role, answer.body.credential.role)
            assert.lengthOf(yield* applying, 1)
          })
      )

      it.effect("a call that is answered 503 after its commit has no second effect when it is repeated", () =>
        Effect.gen(function* () {
          const { applying, first, mint } = yield* slowMint
          yield* (yield* Ahead).by("11 seconds")
          refused(yield* Fiber.join(first), 503, "unavailable")
          const again = yield* mint
          assert.deepStrictEqual([again.status, again.headers["idempotent-replayed"]], [201, "true"])
          assert.isNull(again.body.password)
          assert.lengthOf(yield* applying, 1)
        })
      )
    }
  )

/** Retries of the promise client against the real API, with faults between them (docs/design/client.md L10–L15). */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { answers, connected, cut, faulty, lost, rejection, unsent } from "./clients.ts"

const keysOf = (sent: ReadonlyArray<{ readonly headers: Headers }>) =>
  sent.map(({ headers }) => headers.get("idempotency-key"))

layer(memoryApi(), { excludeTestServices: true })("retries", (it) => {
  for (const [what, fault] of [
    ["is lost", lost],
    ["breaks off", cut]
  ] as const)
    it.effect(`a creation whose answer ${what} is repeated with its idempotency key and has one effect`, () =>
      Effect.gen(function* () {
        const { token } = yield* founder()
        const { fetch, sent } = faulty(fault)
        const client = yield* connected({ credential: token, fetch })
        const { project } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
        assert.strictEqual(sent.length, 2)
        const [first, second] = keysOf(sent)
        assert.match(first ?? "", /^[0-9a-f]{32}$/)
        assert.strictEqual(second, first)
        const { projects } = yield* Effect.promise(() => client.projects.list())
        assert.deepStrictEqual(
          projects.map(({ id }) => id),
          [project.id]
        )
      })
    )

  it.effect("each call has an idempotency key of its own, unless the caller gives one", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const { fetch, sent } = faulty()
      const client = yield* connected({ credential: token, fetch })
      yield* Effect.promise(async () => {
        await client.projects.create({ name: "a" })
        await client.projects.create({ name: "b" })
        await client.projects.create({ name: "c" }, { idempotencyKey: "mine" })
        await client.projects.list()
      })
      const [a, b, c, list] = keysOf(sent)
      assert.notStrictEqual(a, b)
      assert.deepStrictEqual([c, list], ["mine", null])
    })
  )

  it.effect("a key whose secret was in a lost answer rejects with secret_lost, and names the key", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const { fetch } = faulty(lost)
      const client = yield* connected({ credential: token, fetch })
      const error = yield* rejection(() => client.apiKeys.create({ name: "ci" }))
      assert.strictEqual(error.code, "secret_lost")
      const { api_keys } = yield* Effect.promise(() => client.apiKeys.list())
      assert.deepNestedInclude(error.body, { "api_key.id": api_keys[0]?.id, secret: null })
    })
  )

  it.effect("a call that the server does not replay is sent once", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const { fetch, sent } = faulty(unsent)
      const client = yield* connected({ credential: token, fetch })
      assert.strictEqual((yield* rejection(() => client.auth.logout())).code, "unreachable")
      assert.deepStrictEqual([sent.length, keysOf(sent)], [1, [null]])
    })
  )

  it.effect("a read is repeated after an answer of a busy intermediary, and gives up after three times", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const some = faulty(unsent, answers(502), answers(429, { "retry-after": "0" }))
      const client = yield* connected({ credential: token, fetch: some.fetch })
      yield* Effect.promise(() => client.projects.list())
      assert.strictEqual(some.sent.length, 4)
      const busy = answers(503, { "retry-after": "0", "x-request-id": "r-1" })
      const all = faulty(busy, busy, busy, busy, busy)
      const other = yield* connected({ credential: token, fetch: all.fetch })
      const error = yield* rejection(() => other.projects.list())
      assert.deepInclude(error, { status: 503, code: "unknown", requestId: "r-1", retryAfter: 0 })
      assert.strictEqual(all.sent.length, 4)
    })
  )

  it.effect("a call does not wait longer than its bound for Retry-After", () =>
    Effect.gen(function* () {
      const { fetch, sent } = faulty(answers(429, { "retry-after": "3600" }))
      const client = yield* connected({ credential: "nsk_x", fetch })
      const error = yield* rejection(() => client.projects.list())
      assert.deepInclude(error, { status: 429, retryAfter: 3_600_000 })
      assert.strictEqual(sent.length, 1)
    })
  )

  it.effect("a refusal that a retry does not change is not repeated", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const { fetch, sent } = faulty()
      const client = yield* connected({ credential: token, fetch })
      assert.strictEqual((yield* rejection(() => client.projects.get({ project_id: "prj-1" }))).code, "not_found")
      assert.strictEqual(sent.length, 1)
    })
  )
})

/** Calls of the promise client against the real API (docs/design/client.md L1–L9). */
import { assert, layer } from "@effect/vitest"
import { createClient, isErrorOf } from "@narthex/api"
import { Effect } from "effect"
import { idToken, memoryApi } from "../support/apiOver.ts"
import { address, founder } from "../support/story.ts"
import { connected, faulty, rejection } from "./clients.ts"

layer(memoryApi(), { excludeTestServices: true })("the promise client", (it) => {
  it.effect("the promise client signs a person in and works with flat inputs and plain answers", () =>
    Effect.gen(function* () {
      const email = address()
      const anonymous = yield* connected()
      const session = yield* Effect.promise(() => anonymous.auth.exchange({ id_token: idToken(email) }))
      assert.strictEqual(typeof session.access_token, "string")
      const client = yield* connected({ credential: session })
      const made = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      assert.match(made.project.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      const project_id = made.project.id
      const page = yield* Effect.promise(() => client.branches.list({ project_id, limit: 5 }))
      assert.deepStrictEqual(
        page.branches.map(({ id }) => id),
        [made.branch.id]
      )
      const { branch } = yield* Effect.promise(() => client.branches.create({ project_id, name: "next" }))
      const renamed = yield* Effect.promise(() =>
        client.branches.change({ project_id, branch_id: branch.id, name: "later", ttl_seconds: null })
      )
      assert.strictEqual(renamed.branch.name, "later")
      const key = yield* Effect.promise(() =>
        client.apiKeys.create({ name: "ci", capability: "read", scope: `project:${project_id}` })
      )
      assert.match(key.secret, /^nsk_/)
      assert.deepStrictEqual(key.api_key.scope, { type: "project", project_id })
      const reader = yield* connected({ credential: key.secret })
      assert.strictEqual((yield* Effect.promise(() => reader.auth.whoami())).kind, "api_key")
      yield* Effect.promise(() => client.apiKeys.revoke({ api_key_id: key.api_key.id }))
      assert.strictEqual((yield* rejection(() => reader.auth.whoami())).code, "invalid_token")
      assert.strictEqual(yield* Effect.promise(() => client.ipAllow.reset({ project_id })), undefined)
    })
  )

  it.effect("a refusal rejects with its code, status, sentences, request id and members", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const client = yield* connected({ credential: token })
      const { project } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const project_id = project.id
      const refused = yield* rejection(() => client.ipAllow.add({ project_id, cidr: "10.0.0.7/8" }))
      assert.deepInclude(refused, { name: "NarthexError", code: "malformed_cidr", status: 422 })
      assert.include(refused.message, "10.0.0.0/8")
      assert.strictEqual(refused.message, refused.detail)
      assert.isNotEmpty(refused.title)
      assert.match(refused.requestId ?? "", /\w/)
      assert.deepNestedInclude(refused.body, { "errors[0].path": ["cidr"], code: "malformed_cidr" })
      assert.isTrue(isErrorOf(client.ipAllow.add, refused))
      assert.isFalse(isErrorOf(client.projects.create, refused))
    })
  )

  it.effect("an input that does not fit the contract rejects before anything is sent", () =>
    Effect.gen(function* () {
      const { fetch, sent } = faulty()
      const client = yield* connected({ credential: "nsk_x", fetch })
      const secret = "a\u0000b"
      const named = yield* rejection(() => client.projects.create({ name: secret }))
      assert.deepInclude(named, { code: "invalid_input", status: 0 })
      assert.include(named.detail, "name")
      assert.notInclude(named.detail + JSON.stringify(named.body), secret)
      const wrong: ReadonlyArray<() => Promise<unknown>> = [
        () => client.projects.get({ project_id: ".." }),
        () => client.projects.get({ project_id: "" }),
        () => client.projects.list({ limit: 0 }),
        // @ts-expect-error: a member that the call does not have
        () => client.projects.list({ limt: 5 }),
        // @ts-expect-error: a member that the body does not have
        () => client.projects.create({ name: "shop", nmae: "shop" })
      ]
      for (const call of wrong) assert.strictEqual((yield* rejection(call)).code, "invalid_input")
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("a client without a server rejects with unreachable, and says what to check", () =>
    Effect.gen(function* () {
      const client = createClient({ baseUrl: "http://127.0.0.1:1", retries: { times: 1, delay: 1 } })
      const error = yield* rejection(() => client.auth.providers())
      assert.deepInclude(error, { code: "unreachable", status: 0 })
      assert.include(error.detail, "baseUrl")
    })
  )

  it.effect("an answer that is not of this API rejects with unreadable_answer, or with its status", () =>
    Effect.gen(function* () {
      const page = () => Promise.resolve(new Response("<html>", { headers: { "content-type": "text/html" } }))
      const hotel = createClient({ baseUrl: "http://narthex.invalid", retries: false, fetch: page })
      assert.deepInclude(yield* rejection(() => hotel.auth.providers()), { code: "unreadable_answer", status: 200 })
      const gateway = () => Promise.resolve(new Response("no route", { status: 421 }))
      const lost = createClient({ baseUrl: "http://narthex.invalid", retries: false, fetch: gateway })
      assert.deepInclude(yield* rejection(() => lost.auth.providers()), { code: "unknown", status: 421 })
    })
  )

  it.effect("a call without an answer within its bound rejects with timed_out", () =>
    Effect.gen(function* () {
      const silent = () => new Promise<Response>(() => {})
      const retries = { times: 0, attempt: 5 }
      const client = createClient({ baseUrl: "http://narthex.invalid", retries, fetch: silent })
      assert.deepInclude(yield* rejection(() => client.auth.providers()), { code: "timed_out", status: 0 })
    })
  )

  it.effect("an aborted call rejects with aborted, and its request is cancelled", () =>
    Effect.gen(function* () {
      const arrived = Promise.withResolvers<AbortSignal>()
      const never = (request: Request) => {
        arrived.resolve(request.signal)
        return new Promise<Response>((_, reject) => {
          request.signal.addEventListener("abort", () => reject(request.signal.reason))
        })
      }
      const client = createClient({ baseUrl: "http://narthex.invalid", fetch: never })
      const controller = new AbortController()
      const rejected = rejection(() => client.auth.providers({}, { signal: controller.signal }))
      const error = yield* Effect.promise(async () => {
        const failed = Effect.runPromise(rejected)
        const signal = await arrived.promise
        controller.abort(new Error("enough"))
        const error = await failed
        assert.isTrue(signal.aborted)
        return error
      })
      assert.strictEqual(error.code, "aborted")
      assert.strictEqual((error.cause as Error).message, "enough")
    })
  )
})

/** Subscriptions and waits of the promise client against the real API (docs/design/client.md L21–L26). */
import { assert, layer } from "@effect/vitest"
import type { Client, ClientItem, FollowOptions } from "@narthex/api"
import { Effect } from "effect"
import { within } from "../../../../test/harness/eventually.ts"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { connected, faulty, rejection } from "./clients.ts"

/** The items until one is `last`; `onConnected` runs when the stream is open. */
const itemsUntil = (
  client: Client,
  options: FollowOptions,
  last: (item: ClientItem) => boolean,
  onConnected: () => Promise<unknown> = () => Promise.resolve()
) =>
  Effect.promise(() =>
    within(
      "the last item",
      (async () => {
        const items: Array<ClientItem> = []
        for await (const item of client.events.subscribe(options)) {
          items.push(item)
          if (last(item)) break
          if (item.kind === "connected") await onConnected()
        }
        return items
      })()
    )
  )

const finished = (item: ClientItem) => item.kind === "event" && item.event.data["status"] === "finished"

layer(memoryApi(), { excludeTestServices: true })("what a client follows", (it) => {
  it.effect("a subscription yields events as JSON and resumes after the position of any item", () =>
    Effect.gen(function* () {
      const { org_id, token } = yield* founder()
      const client = yield* connected({ credential: token })
      const items = yield* itemsUntil(client, {}, finished, () => client.projects.create({ name: "shop" }))
      const events = items.filter((item) => item.kind === "event")
      assert.deepStrictEqual(
        events.map(({ event }) => event.data["status"]),
        ["scheduling", "running", "finished"]
      )
      assert.deepInclude(events[0]?.event, { org_id, type: "operation.updated.v1" })
      assert.match(events[0]?.event.at ?? "", /^\d{4}-/)
      const after = events[0]?.position ?? ""
      const resumed = yield* itemsUntil(client, { after }, finished)
      assert.deepStrictEqual(
        resumed.flatMap((item) => (item.kind === "event" ? [item.event.id] : [])),
        events.slice(1).map(({ event }) => event.id)
      )
    })
  )

  it.effect("a position that the server does not have is a gap", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const client = yield* connected({ credential: token })
      const items = yield* itemsUntil(client, { after: "nonsense" }, (item) => item.kind === "gap")
      const gap = items.at(-1)
      assert.deepInclude(gap, { kind: "gap", reason: "malformed" })
    })
  )

  it.effect("a subscription ends quietly when its signal aborts", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const client = yield* connected({ credential: token })
      const controller = new AbortController()
      const abort = async () => controller.abort()
      const items = yield* itemsUntil(client, { signal: controller.signal }, () => false, abort)
      assert.deepStrictEqual(
        items.map(({ kind }) => kind),
        ["connected"]
      )
      const aborted = yield* itemsUntil(client, { signal: controller.signal }, () => false)
      assert.deepStrictEqual(aborted, [])
    })
  )

  it.effect("a subscription throws a NarthexError when its key is revoked", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const owner = yield* connected({ credential: token })
      const { api_key, secret } = yield* Effect.promise(() => owner.apiKeys.create({ name: "watcher" }))
      const client = yield* connected({ credential: secret })
      const error = yield* rejection(async () => {
        for await (const item of client.events.subscribe())
          if (item.kind === "connected") await owner.apiKeys.revoke({ api_key_id: api_key.id })
      })
      assert.deepInclude(error, { code: "invalid_token", status: 401 })
    })
  )

  it.effect("a subscription of a session whose token expired refreshes it and connects", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const { fetch, sent } = faulty()
      const client = yield* connected({ credential: { access_token: token }, fetch })
      yield* (yield* Ahead).by("16 minutes")
      yield* itemsUntil(client, {}, (item) => item.kind === "connected")
      assert.deepStrictEqual(
        sent.map(({ path }) => path),
        ["/v1/events", "/v1/auth/refresh", "/v1/events"]
      )
    })
  )

  it.effect("a stream of the contract is a ReadableStream of bytes, which the program can cancel", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const client = yield* connected({ credential: token })
      const text = yield* Effect.promise(async () => {
        const stream = await client.events.stream({ bookmarks: "1" })
        const reader = stream.getReader()
        const first = await within("the first bytes", reader.read())
        await within("the end of the stream", reader.cancel())
        return new TextDecoder().decode(first.value)
      })
      assert.match(text, /^(:|retry|id)/)
    })
  )

  it.effect("waitFor resolves with the final state of an operation", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const client = yield* connected({ credential: token })
      const { operations } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const [operation] = operations
      if (operation === undefined) throw new Error("The creation has no operation.")
      const ended = yield* Effect.promise(() => client.operations.waitFor(operation))
      assert.deepInclude(ended, { id: operation.id, status: "finished" })
      assert.isNotNull(ended.finished_at)
      assert.deepStrictEqual(yield* Effect.promise(() => client.operations.waitFor(ended)), ended)
      const unknown = { ...operation, id: "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10" }
      assert.strictEqual((yield* rejection(() => client.operations.waitFor(unknown))).code, "not_found")
    })
  )
})

layer(memoryApi({ idle: true }), { excludeTestServices: true })("operations that nothing performs", (it) => {
  it.effect("waitFor rejects with timed_out and says where the operation stands", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const client = yield* connected({ credential: token })
      const { operations } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const [operation] = operations
      if (operation === undefined) throw new Error("The creation has no operation.")
      const error = yield* rejection(() => client.operations.waitFor(operation, { timeout: 20 }))
      assert.strictEqual(error.code, "timed_out")
      assert.include(error.detail, "scheduling")
    })
  )

  it.effect("waitFor follows the organization's stream, the project's, or long polls, as far as the key reaches", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const owner = yield* connected({ credential: token })
      const made = yield* Effect.promise(() => owner.projects.create({ name: "shop" }))
      const project_id = made.project.id
      const { branch } = made
      const [operation] = made.operations
      if (operation === undefined) throw new Error("The creation has no operation.")
      const scopes = [
        [{ type: "organization" }, ["/v1/events"]],
        [{ type: "project", project_id }, ["/v1/events", `/v1/projects/${project_id}/events`]],
        [
          { type: "branch", project_id, branch_id: branch.id },
          ["/v1/events", `/v1/projects/${project_id}/events`, `/v1/projects/${project_id}/operations/${operation.id}`]
        ]
      ] as const
      for (const [scope, ways] of scopes) {
        const { secret } = yield* Effect.promise(() => owner.apiKeys.create({ name: "w", capability: "read", scope }))
        const reached = Promise.withResolvers<void>()
        const { fetch, sent } = faulty()
        const client = yield* connected({
          credential: secret,
          fetch: async (request) => {
            const answer = fetch(request)
            // The first request reads the operation; the last way of this scope is the one that stays.
            if (sent.length > ways.length) reached.resolve()
            return answer
          }
        })
        const controller = new AbortController()
        yield* Effect.promise(async () => {
          const waiting = client.operations.waitFor(operation, { signal: controller.signal }).catch((error) => error)
          await within("the last way", reached.promise)
          controller.abort()
          assert.propertyVal(await waiting, "code", "aborted")
        })
        assert.deepStrictEqual(
          sent.slice(1, ways.length + 1).map(({ path }) => path),
          [...ways]
        )
      }
    })
  )
})

/** A session as the credential of a client (docs/design/client.md L16–L20). */
import { assert, layer } from "@effect/vitest"
import type { SessionJson } from "@narthex/api"
import { Effect } from "effect"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { call } from "../support/wire.ts"
import { connected, type Fault, faulty, lost, rejection, type Sent, unsent } from "./clients.ts"

const refreshes = (sent: ReadonlyArray<Sent>) => sent.filter(({ path }) => path === "/v1/auth/refresh").length

/** A client whose token has expired, and what its hook stored. */
const expired = Effect.fnUntraced(function* (...faults: Array<Fault>) {
  const who = yield* founder()
  const { fetch, sent } = faulty(...faults)
  const stored: Array<SessionJson> = []
  const credential = { access_token: who.token }
  const client = yield* connected({ credential, fetch, onRefresh: (session) => void stored.push(session) })
  yield* (yield* Ahead).by("16 minutes")
  return { client, sent, stored, who }
})

layer(memoryApi(), { excludeTestServices: true })("the session of a client", (it) => {
  it.effect("calls that find the token expired share one refresh, which is stored once", () =>
    Effect.gen(function* () {
      const { client, sent, stored, who } = yield* expired()
      const answers = yield* Effect.promise(() => Promise.all(Array.from({ length: 8 }, () => client.auth.whoami())))
      assert.deepStrictEqual(
        answers.map(({ organization }) => organization.id),
        Array.from({ length: 8 }, () => who.org_id)
      )
      assert.strictEqual(refreshes(sent), 1)
      assert.strictEqual(stored.length, 1)
      assert.notStrictEqual(stored[0]?.access_token, who.token)
      // The new token is used from then on.
      const before = sent.length
      yield* Effect.promise(() => client.auth.whoami())
      assert.strictEqual(sent.length, before + 1)
    })
  )

  it.effect("a call that changes something is sent again after the refresh, with the same idempotency key", () =>
    Effect.gen(function* () {
      const { client, sent } = yield* expired()
      yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const [first, refresh, again] = sent
      assert.strictEqual(again?.headers.get("idempotency-key"), first?.headers.get("idempotency-key"))
      assert.strictEqual(refresh?.headers.get("idempotency-key"), null)
      assert.strictEqual((yield* Effect.promise(() => client.projects.list())).projects.length, 1)
    })
  )

  it.effect("a refresh whose answer is lost is repeated with the same token, also for a call that is sent once", () =>
    Effect.gen(function* () {
      const { client, sent, stored } = yield* expired(undefined, lost, unsent)
      yield* Effect.promise(() => client.auth.endSession({ session_id: "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10" })).pipe(
        Effect.ignoreCause
      )
      assert.strictEqual(refreshes(sent), 3)
      assert.strictEqual(new Set(sent.slice(0, 4).map(({ headers }) => headers.get("authorization"))).size, 1)
      assert.strictEqual(stored.length, 1)
    })
  )

  it.effect("an aborted call does not abort the refresh that others wait for", () =>
    Effect.gen(function* () {
      const gate = Promise.withResolvers<void>()
      const reached = Promise.withResolvers<void>()
      const { client, sent, stored } = yield* expired(undefined, async (send) => {
        reached.resolve()
        await gate.promise
        return send()
      })
      const controller = new AbortController()
      yield* Effect.promise(async () => {
        const first = client.auth.whoami({}, { signal: controller.signal }).catch((error: unknown) => error)
        await reached.promise
        const second = client.auth.whoami()
        controller.abort()
        assert.propertyVal(await first, "code", "aborted")
        gate.resolve()
        await second
      })
      assert.deepStrictEqual([refreshes(sent), stored.length], [1, 1])
    })
  )

  it.effect("a refused refresh is the answer to the call, and nothing is stored", () =>
    Effect.gen(function* () {
      const { client, stored, who } = yield* expired()
      yield* call("POST", "/v1/auth/logout", { token: who.token })
      assert.deepInclude(yield* rejection(() => client.projects.list()), { code: "sign_in_required", status: 401 })
      assert.deepStrictEqual(stored, [])
    })
  )

  it.effect("a switch of organization is continued with, stored, and not undone by a refresh beside it", () =>
    Effect.gen(function* () {
      const { client, stored, who } = yield* expired()
      const { organization } = yield* Effect.promise(() => client.orgs.create({ name: "Other" }))
      yield* (yield* Ahead).by("16 minutes")
      yield* Effect.promise(() =>
        Promise.all([client.auth.switchOrg({ org_id: organization.id }), client.projects.list(), client.auth.whoami()])
      )
      const { organization: now } = yield* Effect.promise(() => client.auth.whoami())
      assert.strictEqual(now.id, organization.id)
      assert.strictEqual(stored.at(-1)?.organization.id, organization.id)
      assert.notStrictEqual(now.id, who.org_id)
    })
  )

  it.effect("a hook that cannot store rejects the call with session_not_stored; the next call has the new token", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const client = yield* connected({
        credential: { access_token: who.token },
        onRefresh: () => Promise.reject(new Error("The disk is full."))
      })
      yield* (yield* Ahead).by("16 minutes")
      const error = yield* rejection(() => client.auth.whoami())
      assert.strictEqual(error.code, "session_not_stored")
      assert.propertyVal(error.cause, "message", "The disk is full.")
      yield* Effect.promise(() => client.auth.whoami())
    })
  )

  it.effect("a call with a credential of its own does not refresh the client's session", () =>
    Effect.gen(function* () {
      const { client, sent, who } = yield* expired()
      const error = yield* rejection(() => client.auth.whoami({}, { credential: who.token }))
      assert.strictEqual(error.code, "token_expired")
      assert.strictEqual(refreshes(sent), 0)
    })
  )
})

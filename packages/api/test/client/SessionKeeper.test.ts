/** The newest token of a session, which calls share (docs/design/client.md L33). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { makeSessionKeeper } from "../../src/index.ts"

interface Session {
  readonly org: string
  readonly token: number
}

const first: Session = { org: "old", token: 1 }

/** A keeper whose refreshes wait for `answered`, and how many there were. */
const kept = Effect.gen(function* () {
  const [asked, answered] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const count = { refreshes: 0 }
  const keeper = makeSessionKeeper({
    first,
    refresh: ({ org, token }: Session) =>
      Effect.gen(function* () {
        count.refreshes += 1
        yield* Deferred.succeed(asked, undefined)
        yield* Deferred.await(answered)
        return { org, token: token + 1 }
      })
  })
  const renewed = keeper.renewed(first, ({ token }) => token === first.token)
  return { asked: Deferred.await(asked), answer: Deferred.succeed(answered, undefined), count, keeper, renewed }
})

describe("a keeper of a session", () => {
  it.effect("a token that is stale by the program's own rule is refreshed once for all calls", () =>
    Effect.gen(function* () {
      const { answer, count, keeper, renewed } = yield* kept
      assert.deepStrictEqual(yield* keeper.renewed(first, () => false), first)
      yield* answer
      const sessions = yield* Effect.all([renewed, renewed, renewed], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        sessions.map(({ token }) => token),
        [2, 2, 2]
      )
      assert.strictEqual(count.refreshes, 1)
    })
  )

  it.effect("a refresh whose call is interrupted ends, and its session is the newest", () =>
    Effect.gen(function* () {
      const { answer, asked, count, keeper, renewed } = yield* kept
      const call = yield* Effect.forkChild(renewed)
      yield* asked
      yield* Fiber.interrupt(call)
      yield* answer
      assert.deepStrictEqual(yield* renewed, { org: "old", token: 2 })
      assert.deepStrictEqual(keeper.newest(), { org: "old", token: 2 })
      assert.strictEqual(count.refreshes, 1)
    })
  )

  it.effect("a refresh that runs when a switch begins does not bring the old organization back", () =>
    Effect.gen(function* () {
      const { answer, asked, keeper, renewed } = yield* kept
      const refresh = yield* Effect.forkChild(renewed)
      yield* asked
      const change = yield* Effect.forkChild(
        keeper.adopting(Effect.succeed({ org: "new", token: 9 }), (session) => session),
        { startImmediately: true }
      )
      yield* answer
      yield* Fiber.join(refresh)
      yield* Fiber.join(change)
      assert.deepStrictEqual(keeper.newest(), { org: "new", token: 9 })
    })
  )

  it.effect("a switch that refreshes the session on its way does not wait for itself", () =>
    Effect.gen(function* () {
      const { answer, keeper, renewed } = yield* kept
      yield* answer
      yield* keeper.adopting(renewed, ({ token }) => ({ org: "new", token: token + 1 }))
      assert.deepStrictEqual(keeper.newest(), { org: "new", token: 3 })
    })
  )

  it.effect("the switch of one session does not take the lock of another, whose calls still share a refresh", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* kept, yield* kept]
      const switched = yield* Effect.forkChild(
        a.keeper.adopting(Effect.as(b.renewed, undefined), (session) => session),
        { startImmediately: true }
      )
      yield* b.asked
      const outside = yield* Effect.forkChild(b.renewed, { startImmediately: true })
      // Without the shared refresh, `outside` would begin one here.
      yield* Effect.yieldNow
      yield* b.answer
      yield* Fiber.join(switched)
      yield* Fiber.join(outside)
      assert.deepStrictEqual([a.count.refreshes, b.count.refreshes], [0, 1])
      assert.deepStrictEqual(b.keeper.newest(), { org: "old", token: 2 })
    })
  )
})

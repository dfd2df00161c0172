import { assert, it } from "@effect/vitest"
import { BranchId, ComputeFence } from "@narthex/core"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { branchFences } from "../src/computes/BranchFences.ts"
import { copyPlaces } from "../src/computes/copyRoom.ts"

const branch = BranchId.make("br-fenced")
const other = BranchId.make("br-other")
const as = (fence: number) => Effect.provideService(ComputeFence, fence)

/** A call that says when it has begun and does not end. */
const endless = (begun: Deferred.Deferred<void>) => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)

it.live("a later call interrupts an earlier one of its branch, which fails as busy", () =>
  Effect.gen(function* () {
    const { fenced } = branchFences(Duration.seconds(30))
    const [begun, elsewhere] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const earlier = yield* Effect.forkChild(Effect.flip(as(1)(fenced(branch, endless(begun)))))
    const untouched = yield* Effect.forkChild(as(1)(fenced(other, endless(elsewhere))))
    yield* Deferred.await(begun)
    yield* Deferred.await(elsewhere)
    assert.strictEqual(yield* as(2)(fenced(branch, Effect.succeed("done"))), "done")
    assert.strictEqual((yield* Fiber.join(earlier))._tag, "NoRoomNow")
    assert.isUndefined(untouched.pollUnsafe())
    yield* Fiber.interrupt(untouched)
  })
)

it.live("a later call does not wait for ever for an earlier one that cannot be interrupted", () =>
  Effect.gen(function* () {
    const { fenced } = branchFences(Duration.millis(20))
    const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const hung = Effect.uninterruptible(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end)))
    const earlier = yield* Effect.forkChild(Effect.exit(as(1)(fenced(branch, hung))))
    yield* Deferred.await(begun)
    const failure = yield* Effect.flip(as(2)(fenced(branch, Effect.void)))
    assert.strictEqual(failure._tag, "NoRoomNow")
    yield* Deferred.succeed(end, undefined)
    yield* Fiber.join(earlier)
    yield* as(3)(fenced(branch, Effect.void))
  })
)

it.live("a step of an earlier call is not confirmed once a later call was made", () =>
  Effect.gen(function* () {
    const { confirm, fenced } = branchFences(Duration.millis(20))
    yield* as(1)(confirm(branch))
    yield* as(2)(fenced(branch, Effect.void))
    assert.strictEqual((yield* Effect.flip(as(1)(confirm(branch))))._tag, "NoRoomNow")
    yield* as(2)(confirm(branch))
    yield* confirm(branch)
  })
)

it.live("one parent is copied a limited number of times at once, and a place is free after a copy has failed", () =>
  Effect.gen(function* () {
    const inPlace = copyPlaces(2)
    const begun = yield* Effect.forEach([1, 2], () => Deferred.make<void>())
    const copies = yield* Effect.forEach(begun, (it) => Effect.forkChild(inPlace(branch, endless(it))))
    yield* Effect.forEach(begun, Deferred.await)
    assert.strictEqual((yield* Effect.flip(inPlace(branch, Effect.void)))._tag, "NoRoomNow")
    yield* inPlace(other, Effect.void)
    yield* Fiber.interruptAll(copies.slice(1))
    yield* Effect.flip(inPlace(branch, Effect.fail("failed")))
    yield* inPlace(branch, Effect.void)
    yield* Fiber.interruptAll(copies)
  })
)

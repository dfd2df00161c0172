import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { within } from "../../../test/harness/eventually.ts"
import { problem } from "../../../test/support/HostedPlane.ts"
import { runNarthex } from "./support/runNarthex.ts"
import { signedIn } from "./support/signedIn.ts"

describe("logout", () => {
  it.live("logout revokes every stored key and deletes the file", () =>
    Effect.gen(function* () {
      const { file, keys, login, run } = yield* signedIn
      yield* login("acme")
      const { code, stderr, stdout } = yield* run(["logout"])
      assert.deepStrictEqual([code, stdout, stderr], [0, "Signed out; the stored keys are deleted.\n", ""])
      assert.lengthOf(yield* keys, 0)
      assert.deepStrictEqual(readdirSync(dirname(file)), [])
      assert.strictEqual((yield* run(["whoami"])).code, 4)
    }).pipe(Effect.scoped)
  )

  it.live("logout deletes the file and exits with 0 and a warning if the server refuses", () =>
    Effect.gen(function* () {
      const { file, key, plane, run } = yield* signedIn
      plane.instead = () => problem("internal", "The server failed.")
      const { code, stderr } = yield* run(["logout"])
      assert.strictEqual(code, 0)
      assert.match(stderr, /^warning: The key key-\S+ of context "default" was not revoked: The server failed\./)
      assert.include(stderr, key.id)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.live("logout revokes the keys and names a file that it cannot delete", () =>
    Effect.gen(function* () {
      const { file, keys, run } = yield* signedIn
      // A file of this name cannot be created, as in a folder that cannot be written.
      mkdirSync(`${file}.lock`)
      const { code, stderr, stdout } = yield* run(["logout"])
      assert.deepStrictEqual([code, yield* keys], [0, []])
      assert.match(stderr, /^warning: .*could not be locked/)
      assert.match(
        stdout,
        /^The stored keys are revoked, but .*credentials\.json could not be deleted\. Delete it yourself\.\n$/
      )
      const one = yield* run(["logout", "--context", "default"])
      assert.match(one.stdout, /credentials\.json still has it\.\n$/)
    }).pipe(Effect.scoped)
  )

  it.live("logout deletes the file and exits with 0 and a warning if the server is unreachable", () =>
    Effect.gen(function* () {
      const { file, plane, run } = yield* signedIn
      yield* Effect.promise(() => plane.close())
      const { code, stderr } = yield* run(["logout"])
      assert.strictEqual(code, 0)
      assert.match(stderr, /warning: .*cannot be reached/)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.effect("logout waits at most five seconds for a server that does not respond", () =>
    Effect.gen(function* () {
      const { file, plane, run } = yield* signedIn
      const asked = yield* untilAsked(plane)
      const running = yield* Effect.forkChild(run(["logout"]))
      yield* asked
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(running.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const { code, stderr } = yield* Fiber.join(running)
      assert.strictEqual(code, 0)
      assert.match(stderr, /warning: .*did not answer in time/)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.live("logout deletes the file if it is interrupted while the server does not respond", () =>
    Effect.gen(function* () {
      const { file, plane, run } = yield* signedIn
      const asked = yield* untilAsked(plane)
      const running = yield* Effect.forkChild(run(["logout"]))
      yield* asked
      assert.isTrue(existsSync(file))
      yield* Fiber.interrupt(running)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.live("logout without a file prints so and exits with 0", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      yield* run(["logout"])
      const { code, stderr, stdout } = yield* run(["logout"])
      assert.deepStrictEqual([code, stdout, stderr], [0, "You were not signed in; nothing is stored.\n", ""])
    }).pipe(Effect.scoped)
  )

  it.live("logout deletes a file that cannot be decoded", () =>
    Effect.gen(function* () {
      const { file, run } = yield* signedIn
      writeFileSync(file, "garbage")
      const { code, stderr } = yield* run(["logout"])
      assert.strictEqual(code, 0)
      assert.match(stderr, /^warning: /)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.live("logout never revokes NARTHEX_API_KEY", () =>
    Effect.gen(function* () {
      const { addKey, keys, setting } = yield* signedIn
      const ci = yield* Effect.promise(() => addKey())
      const variables = { ...setting.variables, NARTHEX_API_KEY: ci.secret }
      const { code, stderr } = yield* runNarthex(["logout"], { ...setting, variables })
      assert.strictEqual(code, 0)
      assert.match(stderr, /logout does not revoke the credential in NARTHEX_API_KEY/)
      assert.deepStrictEqual(
        (yield* keys).map(({ id }) => id),
        [ci.id]
      )
    }).pipe(Effect.scoped)
  )

  it.live("logout --context removes one context and keeps the others", () =>
    Effect.gen(function* () {
      const { key, keys, login, run, stored } = yield* signedIn
      yield* login("acme")
      const { code } = yield* run(["logout", "--context", "acme"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(Object.keys(stored().contexts), ["default"])
      assert.isNull(stored().current, "the target of the next command does not change silently")
      assert.deepStrictEqual(
        (yield* keys).map(({ id }) => id),
        [key.id]
      )
    }).pipe(Effect.scoped)
  )

  it.live("logout revokes a key on the server that issued it, whatever NARTHEX_URL is", () =>
    Effect.gen(function* () {
      const { file, keys, setting } = yield* signedIn
      const { code, stderr } = yield* runNarthex(["logout"], {
        ...setting,
        variables: { NARTHEX_URL: "https://elsewhere.invalid" }
      })
      assert.strictEqual(code, 0)
      assert.match(stderr, /warning: NARTHEX_URL is https:\/\/elsewhere\.invalid/)
      assert.lengthOf(yield* keys, 0)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )
})

/** From now on the plane answers no request. The effect waits for the first one. */
const untilAsked = (plane: { instead: unknown }) =>
  Effect.sync(() => {
    let asked = () => {}
    const waiting = new Promise<void>((resolve) => {
      asked = resolve
    })
    plane.instead = () => {
      asked()
      return "silence"
    }
    return Effect.promise(() => within("a request to the control plane", waiting))
  })

/** Cookies that the console seals: what opens them, and what is remembered of those that were opened. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ConsoleSettings } from "../src/ConsoleConfig.ts"
import { cookieName } from "../src/sessions/cookies.ts"
import { OpenedCookies } from "../src/sessions/OpenedCookies.ts"
import { SealedCookies } from "../src/sessions/SealedCookies.ts"
import { cookieKey } from "./support/Console.ts"

const settingsAt = (console_url: string, cookie_key: Redacted.Redacted<Uint8Array>) =>
  ConsoleSettings.from({
    api_url: "http://api.test",
    console_url,
    console_token: null,
    cookie_key,
    providers: [],
    trusted_hops: 0
  })

const cookiesWith = (cookie_key: Redacted.Redacted<Uint8Array>) =>
  Layer.provide(
    Layer.fresh(SealedCookies.layer),
    Layer.succeed(ConsoleSettings, settingsAt("http://console.test", cookie_key))
  )

const minute = 60_000

describe("names of cookies", () => {
  it("consoles on ports of one host have cookies of different names over plain http, and __Host- over https", () => {
    const named = (url: string) => {
      const settings = settingsAt(url, Redacted.make(new Uint8Array(32)))
      return [cookieName("session", settings), cookieName("sign-in", settings, "a1")]
    }
    assert.deepStrictEqual(named("http://127.0.0.1:4401"), ["narthex-4401", "narthex-4401-sign-in-a1"])
    assert.deepStrictEqual(named("http://127.0.0.1:4501"), ["narthex-4501", "narthex-4501-sign-in-a1"])
    assert.deepStrictEqual(named("http://console.test"), ["narthex", "narthex-sign-in-a1"])
    assert.deepStrictEqual(named("https://c.test:8443"), ["__Host-narthex", "__Host-narthex-sign-in-a1"])
  })
})

describe("sealed cookies", () => {
  it.effect("a session that was opened is opened again without a decryption, until it expires", () =>
    Effect.gen(function* () {
      const cookies = yield* SealedCookies
      const text = yield* cookies.seal("session", { id: "s-1" }, minute)
      const open = cookies.open("session", text)
      assert.strictEqual(Option.getOrThrow(yield* open)["id"], "s-1")
      // A decryption is a promise, so an answer at once is one from memory.
      const again = Effect.map(Effect.context<never>(), (context) => Effect.runSyncWith(context)(open))
      assert.strictEqual(Option.getOrThrow(yield* again)["id"], "s-1")
      yield* TestClock.adjust(minute - 1)
      assert.isTrue(Option.isSome(yield* open))
      yield* TestClock.adjust(1)
      assert.isTrue(Option.isNone(yield* open))
      assert.isTrue(Option.isNone(yield* open))
    }).pipe(Effect.provide(cookiesWith(cookieKey)))
  )

  it.effect("a session that was opened is none for another purpose, and a text beside it is not opened", () =>
    Effect.gen(function* () {
      const cookies = yield* SealedCookies
      const text = yield* cookies.seal("session", { id: "s-1" }, minute)
      assert.isTrue(Option.isSome(yield* cookies.open("session", text)))
      assert.isTrue(Option.isNone(yield* cookies.open("sign-in", text)))
      for (const other of [`${text}A`, text.slice(0, -1), ` ${text}`, ""])
        assert.isTrue(Option.isNone(yield* cookies.open("session", other)), other)
      const link = yield* cookies.seal("invitation", { id: "s-1" }, minute)
      assert.isTrue(Option.isNone(yield* cookies.open("session", link)))
      assert.isTrue(Option.isNone(yield* cookies.open("invitation", text)))
      const attempt = yield* cookies.seal("sign-in", { id: "a-1" }, minute)
      assert.isTrue(Option.isSome(yield* cookies.open("sign-in", attempt)))
      assert.isTrue(Option.isNone(yield* cookies.open("session", attempt)))
    }).pipe(Effect.provide(cookiesWith(cookieKey)))
  )

  it.effect("a cookie of another key is not opened, however often it comes", () =>
    Effect.gen(function* () {
      const text = yield* Effect.flatMap(SealedCookies, (cookies) =>
        cookies.seal("session", { id: "s-1" }, minute)
      ).pipe(Effect.provide(cookiesWith(Redacted.make(new Uint8Array(32).fill(8)))))
      const cookies = yield* SealedCookies
      for (let time = 0; time < 2; time++) assert.isTrue(Option.isNone(yield* cookies.open("session", text)))
    }).pipe(Effect.provide(cookiesWith(cookieKey)))
  )
})

describe("OpenedCookies", () => {
  it("a cookie that was not used for the longest time makes room for a new one", () => {
    const content = { id: "s", exp: 60 }
    const cookies = new OpenedCookies(2)
    cookies.add("first", content)
    cookies.add("second", content)
    assert.strictEqual(cookies.find("first", 0), content)
    cookies.add("third", content)
    assert.isUndefined(cookies.find("second", 0))
    assert.deepEqual([cookies.find("first", 0), cookies.find("third", 0)], [content, content])
  })

  it("a cookie without an expiry is not kept", () => {
    const cookies = new OpenedCookies()
    cookies.add("text", { id: "s" })
    assert.isUndefined(cookies.find("text", 0))
  })
})

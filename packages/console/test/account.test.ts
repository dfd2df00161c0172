/** The account: the person, and the sessions that are signed in. */
import { assert, describe, layer, it as test } from "@effect/vitest"
import { Effect } from "effect"
import { deviceWords } from "../src/views/device.ts"
import { Api } from "./support/Api.ts"
import { Browser } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"

/** Signed in three times. */
const withOthers = Effect.fnUntraced(function* (email: string) {
  const { product } = yield* Api
  const signedIn = yield* signedInAs(email)
  const sessions = go(async () => (await signedIn.client.auth.sessions({})).sessions)
  yield* go(async () => {
    for (const _ of [1, 2])
      await product.sessions.start(signedIn.person.id, { user_agent: firefox, address: "192.0.2.7" })
  })
  const others = (yield* sessions).filter(({ current }) => !current).map(({ id }) => id)
  return { ...signedIn, others, left: Effect.map(sessions, (all) => all.map(({ id }) => id)) }
})

layer(layerTestConsole(), { excludeTestServices: true })("the account", (it) => {
  it.effect("the page shows the person, the provider and each session, and which is this one", () =>
    Effect.gen(function* () {
      const { browser, others, person } = yield* withOthers("me@example.com")
      const page = yield* go(() => browser.open("/account"))
      for (const part of [person.email, person.id, "Firefox on Linux", "192.0.2.7", "this session"])
        assert.include(page.text, part)
      for (const sid of others) assert.include(page.text, `/account/sessions/${sid}/end`)
      assert.lengthOf(page.text.match(/\/account\/sessions\/[^/"]+\/end"/g) ?? [], 2)
      const visitor = new Browser(browser.origin)
      yield* go(() => visitor.signIn("visitor@example.com"))
      assert.include((yield* go(() => visitor.open("/account"))).text, "Development One")
    })
  )

  it.effect("one other session is ended, and ending it again changes nothing", () =>
    Effect.gen(function* () {
      const { browser, left, others } = yield* withOthers("one@example.com")
      const [first = "", second = ""] = others
      for (const _ of [1, 2]) {
        const ended = yield* go(() => browser.post(`/account/sessions/${first}/end`, {}))
        assert.strictEqual(ended.headers.get("location")?.split("?")[0], "/account")
      }
      assert.notInclude(yield* left, first)
      assert.include(yield* left, second)
      assert.strictEqual((yield* go(() => browser.post("/account/sessions/nonsense/end", {}))).status, 404)
    })
  )

  it.effect("all other sessions are ended, and this one goes on", () =>
    Effect.gen(function* () {
      const { browser, left, others } = yield* withOthers("all@example.com")
      yield* go(() => browser.post("/account/sessions/end-others", {}))
      for (const sid of others) assert.notInclude(yield* left, sid)
      const page = yield* go(() => browser.open("/account"))
      assert.strictEqual(page.status, 200)
      assert.notInclude(page.text, "End all others")
    })
  )

  it.effect("a session of another person is not ended", () =>
    Effect.gen(function* () {
      const { left, others } = yield* withOthers("victim@example.com")
      const { browser } = yield* signedInAs("thief@example.com")
      yield* go(() => browser.post(`/account/sessions/${others[0]}/end`, {}))
      assert.includeMembers(yield* left, others)
    })
  )
})

describe("devices in words", () => {
  test("browser and system are named, and other programs shown as they are", () => {
    const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    assert.strictEqual(deviceWords(`${windows} Chrome/140.0 Safari/537.36 Edg/140.0`), "Edge on Windows")
    assert.strictEqual(deviceWords(`${windows} Chrome/140.0 Safari/537.36`), "Chrome on Windows")
    assert.strictEqual(
      deviceWords("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1"),
      "Safari on iPhone"
    )
    assert.strictEqual(deviceWords("narthex/0.1.0"), "narthex/0.1.0")
    assert.strictEqual(deviceWords("x".repeat(60)), `${"x".repeat(39)}…`)
    assert.strictEqual(deviceWords(null), "Unknown device")
  })
})

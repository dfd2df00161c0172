/** Operator commands about people and secrets, judged by what the running platform answers afterwards. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { ask, signIn } from "./support/ask.ts"
import { operate } from "./support/operate.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

/** One API for all tests of this file; new accounts are pending on it. */
class Api extends Context.Service<Api, { readonly url: string }>()("@narthex/test/serving/Api") {
  static readonly layer = Layer.effect(
    Api,
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const settings = { ...environment, NARTHEX_OPEN_SIGNUP: "false" }
      return { url: (yield* Program.start("server", ["--roles", "api"], settings)).address("api") }
    })
  ).pipe(Layer.provideMerge(Serving.layer))
}

const published = (url: string) =>
  Effect.map(
    ask(url, "GET", "/.well-known/jwks.json"),
    ({ body }): ReadonlyArray<string> => body.keys.map((key: { readonly kid: string }) => key.kid)
  )

/** Another instance of the same platform: it knows a second pepper, and starts after `keys rotate`. */
class Second extends Context.Service<
  Second,
  { readonly url: string; readonly former: ReadonlyArray<string>; readonly rotated: string }
>()("@narthex/test/serving/Second") {
  static readonly layer = Layer.effect(
    Second,
    Effect.gen(function* () {
      const first = yield* Api
      const { environment } = yield* Serving
      const former = yield* published(first.url)
      const { lines } = yield* operate(environment, "keys", "rotate")
      const settings = { NARTHEX_OPEN_SIGNUP: "false", NARTHEX_API_URL: first.url, NARTHEX_KEY_PEPPERS: "2,1" }
      const second = yield* Program.start("server", ["--roles", "api"], { ...environment, ...settings })
      // The line of the second instance names NARTHEX_API_URL, which is the first instance's.
      const port = second.listensOn.find((it) => `http://127.0.0.1:${it}` !== second.address("admin"))
      return { url: `http://127.0.0.1:${port}`, former, rotated: lines[0] ?? "" }
    })
  )
}

layer(Api.layer, { excludeTestServices: true })("operator commands on the store of a running platform", (it) => {
  const operated = (...args: ReadonlyArray<string>) =>
    Effect.flatMap(Serving, ({ environment }) => operate(environment, ...args))
  const entered = (email: string) =>
    Effect.gen(function* () {
      const { url } = yield* Api
      return yield* signIn(url, (yield* Serving).issuer.idToken(email))
    })
  const projects = (token: string) =>
    Effect.flatMap(Api, ({ url }) =>
      Effect.map(ask(url, "GET", "/v1/projects", token), ({ status, body }) => [status, body.code])
    )

  it.effect("`accounts` lists, enables and disables accounts, effective from the next request on", () =>
    Effect.gen(function* () {
      const ada = yield* entered("ada@example.com")
      const grace = yield* entered("grace@example.com")
      assert.deepStrictEqual(yield* projects(ada.token), [403, "alpha_pending"])

      const { lines } = yield* operated("accounts", "list")
      assert.deepStrictEqual(
        lines.map((line) => line.split(/ {2,}/)),
        [
          ["ID", "EMAIL", "ENABLED", "DISABLED"],
          [ada.user, "ada@example.com", "-", "-"],
          [grace.user, "grace@example.com", "-", "-"]
        ]
      )
      const page = yield* operated("accounts", "list", "--limit", "1")
      assert.deepStrictEqual(
        page.lines.map((line) => line.split(" ")[0]),
        ["ID", ada.user]
      )
      assert.deepStrictEqual(page.notes, [`There are more accounts. List them with --after ${ada.user}.`])

      const enabled = yield* operated("accounts", "enable", ada.user)
      assert.strictEqual(enabled.code, 0)
      assert.match(enabled.lines[1] ?? "", /^\S+ +ada@example\.com +20\S+Z +-$/)
      assert.deepStrictEqual(yield* projects(ada.token), [200, undefined])
      assert.deepStrictEqual(yield* projects(grace.token), [403, "alpha_pending"])

      const disabled = yield* operated("accounts", "disable", ada.user)
      assert.match(disabled.lines[1] ?? "", / 20\S+Z +20\S+Z$/)
      assert.deepStrictEqual(yield* operated("accounts", "disable", ada.user), disabled)
      assert.strictEqual((yield* projects(ada.token))[0], 401)

      assert.deepStrictEqual((yield* operated("accounts", "enable", ada.user)).lines, enabled.lines)
    })
  )

  it.effect("`audit list` shows what the operator did to an account, and how to list the entries before", () =>
    Effect.gen(function* () {
      const mary = yield* entered("mary@example.com")
      yield* operated("accounts", "enable", mary.user)
      yield* operated("accounts", "disable", mary.user)
      const { lines } = yield* operated("audit", "list", "--organization", mary.user)
      assert.deepStrictEqual(
        lines.map((line) => line.split(/ {2,}/).slice(1, 5)),
        [
          ["ACTION", "OUTCOME", "ACTOR", "TARGET"],
          ["account.disabled", "done", "operator", "mary@example.com"],
          ["account.enabled", "done", "operator", "mary@example.com"],
          ["session.created", "done", "mary@example.com", lines[3]?.split(/ {2,}/)[4] ?? ""]
        ]
      )
      const page = yield* operated("audit", "list", "--organization", mary.user, "--limit", "1")
      assert.match(page.notes[0] ?? "", /^There are more entries\. List them with --before \S+\.$/)
      const unknown = yield* operated("audit", "list", "--organization", "org_none")
      assert.deepStrictEqual([unknown.code, unknown.lines], [1, []])
      assert.include(unknown.refusal, 'There is no organization "org_none".')
    })
  )

  it.effect("`accounts` takes an address in any case instead of an id", () =>
    Effect.gen(function* () {
      const hedy = yield* entered("hedy@example.com")
      const { lines } = yield* operated("accounts", "enable", "Hedy@Example.com")
      assert.match(lines[1] ?? "", /^\S+ +hedy@example\.com +20/)
      assert.deepStrictEqual(yield* projects(hedy.token), [200, undefined])
      assert.strictEqual((yield* operated("accounts", "disable", "hedy@example.com")).code, 0)
      assert.strictEqual((yield* projects(hedy.token))[0], 401)
    })
  )

  it.effect("`accounts` refuses an unknown id or address with a sentence that names it", () =>
    Effect.gen(function* () {
      for (const command of ["enable", "disable"])
        for (const name of ["usr_none", "unknown@example.com"])
          assert.deepStrictEqual(yield* operated("accounts", command, name), {
            code: 1,
            lines: [],
            notes: [],
            refusal: `There is no account ${name}. \`accounts list\` shows those that exist.`
          })
    })
  )

  it.effect("`keys rotate` with another master secret is refused, and changes nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* Api
      const { environment } = yield* Serving
      const before = yield* ask(url, "GET", "/.well-known/jwks.json")
      const other = { ...environment, NARTHEX_MASTER_SECRET: Buffer.alloc(32, 1).toString("base64url") }
      const { code, lines } = yield* operate(other, "keys", "rotate")
      assert.deepStrictEqual([code, lines], [1, []])
      assert.deepStrictEqual((yield* ask(url, "GET", "/.well-known/jwks.json")).body, before.body)
    })
  )

  it.effect("`settings` says which variables are given, and shows no value", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { code, stdout } = yield* run("server", ["settings"], environment)
      assert.strictEqual(code, 0)
      for (const name of Object.keys(environment)) assert.match(stdout, new RegExp(`^${name}\\b.*\\n    given$`, "m"))
      assert.match(stdout, /^NARTHEX_REGION\n {4}default: /m)
      const secrets = [environment.NARTHEX_MASTER_SECRET, environment.NARTHEX_PROXY_TOKEN, environment.DATABASE_URL]
      for (const secret of secrets) assert.notInclude(stdout, secret)
    })
  )

  it.layer(Second.layer)("and a second instance", (it) => {
    it.effect("`keys rotate` publishes another key, and tokens of the former key stay valid", () =>
      Effect.gen(function* () {
        const { former, rotated, url } = yield* Second
        const [, kid = "", from = "", until = ""] =
          /^Key (\S+) signs from (\S+Z); the old ones stay published until (\S+Z)\.$/.exec(rotated) ?? []
        assert.strictEqual(Date.parse(until) - Date.parse(from), (12 * 60 + 15) * 60_000)
        assert.sameMembers([...(yield* published(url))], [...former, kid])
        const { token } = yield* entered("alan@example.com")
        assert.strictEqual((yield* ask(url, "GET", "/v1/auth/whoami", token)).status, 200)
      })
    )

    it.effect("a pepper is rotated in two steps: every instance gets it, then new keys use it", () =>
      Effect.gen(function* () {
        const first = yield* Api
        const second = yield* Second
        const { token, user } = yield* entered("edsger@example.com")
        yield* operated("accounts", "enable", user)
        const made = (url: string, name: string) =>
          Effect.map(ask(url, "POST", "/v1/api-keys/", token, { name }), ({ body }) => String(body.secret))
        const accepted = (url: string, key: string) =>
          Effect.map(ask(url, "GET", "/v1/projects", key), ({ status }) => status === 200)
        const old = yield* made(first.url, "old")
        const fresh = yield* made(second.url, "fresh")
        assert.deepStrictEqual([yield* accepted(second.url, old), yield* accepted(second.url, fresh)], [true, true])
        // Why there are two steps: an instance that does not know the generation refuses its keys.
        assert.deepStrictEqual([yield* accepted(first.url, old), yield* accepted(first.url, fresh)], [true, false])
      })
    )
  })
})

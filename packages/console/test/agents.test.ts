/** The pages for agents: the key with the blocks to paste, and the page of a proposal. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Browser, fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const unescaped = (html: string) => html.replaceAll("&quot;", '"').replaceAll("&amp;", "&")

layer(layerTestConsole({ mcp_url: "https://api.example.com/mcp" }), { excludeTestServices: true })(
  "connecting an agent",
  (it) => {
    it.effect("the form begins with an agent's key, and the answer has a block for each kind of client", () =>
      Effect.gen(function* () {
        const { browser, client, home } = yield* signedInAs("agent@example.com")
        const list = yield* go(() => browser.open(`${home}/api-keys`))
        assert.include(list.text, `href="${home}/api-keys/new?for=agent"`)
        const form = yield* go(() => browser.open(`${home}/api-keys/new?for=agent`))
        assert.match(form.text, /value="agent"[^>]*checked/)
        const fields = { name: "agent", capability: "agent", scope: "organization", expires_in_days: "30" }
        const shown = yield* go(() =>
          browser.post(`${home}/api-keys`, { ...fields, form_token: fieldIn(form, "form_token") })
        )
        const secret = /<output id="secret"[^>]*>(nsk_\w+)<\/output>/.exec(shown.text)?.[1] ?? assert.fail("no secret")
        const text = unescaped(shown.text)
        assert.include(
          text,
          `claude mcp add --transport http narthex https://api.example.com/mcp --header "Authorization: Bearer ${secret}"`
        )
        assert.include(text, `"headers":{"Authorization":"Bearer ${secret}"}`)
        assert.include(text, `"NARTHEX_API_KEY":"${secret}"`)
        const { api_keys } = yield* go(() => client.apiKeys.list({}))
        assert.deepStrictEqual(
          api_keys.map(({ capability }) => capability),
          ["agent"]
        )
      })
    )

    it.effect("another key has no blocks", () =>
      Effect.gen(function* () {
        const { browser, home } = yield* signedInAs("other@example.com")
        const fields = { name: "ci", capability: "read", scope: "organization", expires_in_days: "" }
        const shown = yield* go(() => browser.post(`${home}/api-keys`, fields))
        assert.notInclude(shown.text, "Connect an agent")
      })
    )

    it.effect("the page of a proposal is the same for a visitor and for a person, and says who wrote it", () =>
      Effect.gen(function* () {
        const { browser } = yield* signedInAs("reader@example.com")
        const visitor = new Browser(browser.origin)
        const [one, other] = yield* go(() => Promise.all([browser.open("/proposal"), visitor.open("/proposal")]))
        assert.deepStrictEqual([one.status, other.status], [200, 200])
        assert.strictEqual(one.text, other.text)
        assert.include(one.text, "A program wrote everything below")
        assert.strictEqual(one.headers.get("cache-control"), "no-store")
      })
    )
  }
)

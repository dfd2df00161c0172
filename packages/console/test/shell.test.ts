/** The surroundings of every page: policy, theme, places, the page of components, and the API away. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { Browser } from "./support/Browser.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

layer(layerTestConsole(), { excludeTestServices: true })("the shell", (it) => {
  it.effect("the policy of every page forbids markup from text, inline code, and every other origin", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("policy@example.com")
      const stranger = new Browser(yield* consoleUrl)
      const pages = yield* go(() =>
        Promise.all([
          stranger.open("/"),
          ...["/sign-in", `${home}/projects`, "/nowhere"].map((path) => browser.open(path))
        ])
      )
      for (const { headers } of pages) {
        const policy = headers.get("content-security-policy") ?? ""
        assert.include(policy, "require-trusted-types-for 'script'")
        assert.include(policy, "trusted-types 'none'")
        assert.notMatch(policy, /unsafe|\*|https?:|data:|blob:/)
      }
    })
  )

  it.effect("the chosen theme is in the first bytes of every page, and outlives sign-out", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("theme@example.com")
      assert.notInclude((yield* go(() => browser.open(`${home}/projects`))).text, "data-theme")
      const chosen = yield* go(() => browser.post("/theme", { theme: "dark", return_to: `${home}/projects` }))
      assert.strictEqual(chosen.headers.get("location"), `${home}/projects`)
      const dark = /^<!doctype html><html lang="en" data-theme="dark">.*<meta name="color-scheme" content="dark"\/>/
      const page = yield* go(() => browser.open(`${home}/projects`))
      assert.match(page.text, dark)
      assert.match(page.text, /aria-current="true"[^>]*>(?:(?!<\/button>).)*Dark theme/)
      yield* go(() => browser.post("/sign-out", {}))
      for (const path of ["/", "/nowhere"]) assert.match((yield* go(() => browser.open(path))).text, dark)
      yield* go(() => browser.post("/theme", { theme: "system" }))
      assert.notInclude((yield* go(() => browser.open("/"))).text, "data-theme")
    })
  )

  it.effect("a theme that does not exist is that of the system, and leads nowhere else", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("no-theme@example.com")
      const answer = yield* go(() => browser.post("/theme", { theme: '"><script>', return_to: "//evil.example" }))
      assert.strictEqual(answer.headers.get("location"), "/projects")
      browser.cookies.set("narthex-theme", "pink")
      assert.notInclude((yield* go(() => browser.open("/"))).text, "data-theme")
    })
  )

  it.effect("the places are those of the active organization, with projects and branches by name", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home, person } = yield* signedInAs("places@example.com")
      const project = yield* go(() => api.project(person, "storefront"))
      yield* go(() => api.foreign("secret"))
      const answer = yield* go(() => browser.send("/api/places"))
      const { places } = JSON.parse(answer.text)
      assert.deepInclude(places, { label: "storefront", kind: "Project", href: `${home}/projects/${project.id}` })
      assert.deepInclude(places, { label: "Members", kind: "Organization", href: `${home}/members` })
      assert.deepInclude(places, {
        label: "main",
        kind: "Branch of storefront",
        href: `${home}/projects/${project.id}/branches/${project.branch_id}`
      })
      assert.notInclude(answer.text, "secret")
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      browser.cookies.clear()
      assert.strictEqual((yield* go(() => browser.send("/api/places"))).status, 401)
    })
  )

  it.effect("the breadcrumb of a project switches to another project", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home, person } = yield* signedInAs("switch@example.com")
      const first = yield* go(() => api.project(person, "first"))
      const second = yield* go(() => api.project(person, "second"))
      const { text } = yield* go(() => browser.open(`${home}/projects/${first.id}`))
      assert.match(text, /aria-label="Switch project"/)
      assert.include(text, `<a href="${home}/projects/${second.id}">second</a>`)
    })
  )

  it.effect("the page of components is not served unless the console runs in development", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("components@example.com")
      assert.strictEqual((yield* go(() => browser.open("/dev/components"))).status, 404)
    })
  )
})

layer(layerTestConsole({ development: true }), { excludeTestServices: true })("in development", (it) => {
  it.effect("the page of components shows each component, to signed-in people", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("developer@example.com")
      const page = yield* go(() => browser.open("/dev/components"))
      assert.strictEqual(page.status, 200)
      for (const part of ["2 things to correct", "Type checkout to confirm", 'popovertarget="menu-'])
        assert.include(page.text, part)
      browser.cookies.clear()
      assert.strictEqual((yield* go(() => browser.send("/dev/components"))).status, 303)
    })
  )
})

layer(layerTestConsole({ api_url: "http://127.0.0.1:1" }), { excludeTestServices: true })("the API away", (it) => {
  it.effect("with the API away a page opens itself again, and a form leads to the projects", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("waiting@example.com")
      const page = yield* go(() => browser.send(`${home}/api-keys`))
      assert.include(page.text, `<meta http-equiv="refresh" content="10; url=${home}/api-keys"/>`)
      assert.include(page.text, `href="${home}/api-keys">Try again`)
      const sent = yield* go(() => browser.post(`${home}/api-keys`, { name: "x" }))
      assert.strictEqual(sent.status, 503)
      assert.include(sent.text, 'content="10; url=/projects"')
    })
  )
})

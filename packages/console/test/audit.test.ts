/** The audit log of an organization in the console. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { go } from "./support/projectVisit.ts"
import { browserOf, signedInAs } from "./support/signedIn.ts"

layer(layerTestConsole(), { excludeTestServices: true })("the audit log", (it) => {
  it.effect("the page shows who did what to which object from where, and refused attempts", () =>
    Effect.gen(function* () {
      const { browser, client, home } = yield* signedInAs("audits@example.com")
      const { project } = yield* go(() => client.projects.create({ name: "shop <b>", region: "eu-north" }))
      const { api_key } = yield* go(() => client.apiKeys.create({ name: "ci", capability: "read" }))
      const { text } = yield* go(() => browser.open(`${home}/settings/audit`))
      for (const part of [">project created<", ">api key created<", "capability: read", ">audits@example.com</a>"])
        assert.include(text, part)
      assert.include(text, `target=${project.id}">shop &lt;b></a>`)
      assert.include(text, `target=${api_key.id}">ci</a>`)
      assert.include((yield* go(() => browser.open(`${home}/settings`))).text, `${home}/settings/audit`)
    })
  )

  it.effect("the filter is in the address, and a value that means nothing filters nothing", () =>
    Effect.gen(function* () {
      const { browser, client, home } = yield* signedInAs("filters@example.com")
      const { project } = yield* go(() => client.projects.create({ name: "shop", region: "eu-north" }))
      const open = (query: string) => go(() => browser.open(`${home}/settings/audit?${query}`))
      const shows = (text: string, act: string) => text.includes(`<span class="said">${act}</span>`)
      const filtered = (yield* open("action=project.created&outcome=done")).text
      assert.deepStrictEqual([shows(filtered, "project created"), shows(filtered, "session created")], [true, false])
      assert.match(filtered, /<option (?=[^>]*selected)[^>]*>project created</)
      const one = (yield* open(`target=${project.id}`)).text
      assert.include(one, `<input type="hidden" name="target" value="${project.id}"/>`)
      const none = (yield* open("to=2001-01-01")).text
      assert.include(none, "No entry matches")
      for (const query of ["outcome=maybe", "from=yesterday", "to=2001-99-99"])
        assert.isTrue(shows((yield* open(query)).text, "project created"), query)
    })
  )

  it.effect("the file is CSV under the same filter, for download", () =>
    Effect.gen(function* () {
      const { browser, client, home } = yield* signedInAs("downloads@example.com")
      yield* go(() => client.projects.create({ name: "=shop", region: "eu-north" }))
      const file = yield* go(() => browser.open(`${home}/settings/audit.csv?action=project.created`))
      assert.match(file.headers.get("content-type") ?? "", /^text\/csv/)
      assert.strictEqual(file.headers.get("content-disposition"), 'attachment; filename="audit.csv"')
      const lines = file.text.split("\r\n")
      assert.deepStrictEqual([lines.length, lines.at(-1)], [3, ""])
      assert.include(lines[1], ",project.created,done,user,")
    })
  )

  it.effect("a member is offered no audit log, and is refused its page", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const person = yield* go(async () => {
        const founder = await api.team(await api.person("founder-of-audits@example.com"), "Acme")
        return api.join(founder, await api.person("member-of-audits@example.com"), "member")
      })
      const { browser, home } = yield* browserOf(person)
      assert.notInclude((yield* go(() => browser.open(`${home}/settings`))).text, "/settings/audit")
      assert.strictEqual((yield* go(() => browser.open(`${home}/settings/audit`))).status, 403)
    })
  )
})

/** The allowlist of a project. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fieldIn } from "../support/Browser.ts"
import { layerTestConsole } from "../support/Console.ts"
import { go, withProject } from "../support/projectVisit.ts"

/** The form for a rule, sent by a person who has answered the question about their own address. */
const rule = (cidr: string, more: Readonly<Record<string, string>> = {}) => ({
  cidr,
  label: "",
  hours: "",
  confirmed: "true",
  ...more
})

interface Rule {
  readonly cidr: string
  readonly label: string
  readonly created_at: string
  readonly expires_at: string | null
}

/** The parts of a rule that a form sets. */
const inShort = ({ cidr, created_at, expires_at, label }: Rule) => ({
  cidr,
  label,
  hours: expires_at === null ? null : Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 3_600_000)
})

layer(layerTestConsole(), { excludeTestServices: true })("the allowlist", (it) => {
  it.effect("an empty allowlist says that the project is open, and names the command", () =>
    Effect.gen(function* () {
      const { text } = yield* (yield* withProject("open@example.com")).open("/ip-allow")
      assert.match(text, /Open to any address/)
      assert.match(text, /narthex ip-allow add &lt;cidr>/)
    })
  )

  it.effect("a bare address in the form for a rule gets a prefix before it is sent", () =>
    Effect.gen(function* () {
      const { open, post, rules } = yield* withProject("bare@example.com")
      const added = yield* post("/ip-allow", rule(" 203.0.113.7 ", { label: "office" }))
      assert.strictEqual(added.status, 303)
      yield* post("/ip-allow", rule("2001:db8::1", { hours: "8" }))
      assert.deepStrictEqual((yield* rules).map(inShort), [
        { cidr: "203.0.113.7/32", label: "office", hours: null },
        { cidr: "2001:db8::1/128", label: "", hours: 8 }
      ])
      assert.match((yield* open("/ip-allow")).text, /Actions of 203\.0\.113\.7\/32/)
    })
  )

  it.effect("an invalid rule is shown at its field with the input kept", () =>
    Effect.gen(function* () {
      const { post, rules } = yield* withProject("mistake@example.com")
      const page = yield* post("/ip-allow", { cidr: "10.0.0.1/8", label: "typed", hours: "" })
      assert.strictEqual(page.status, 422)
      assert.match(page.text, /id="cidr-error">[^<]*Did you mean 10\.0\.0\.0\/8/)
      assert.match(page.text, /aria-describedby="cidr-hint cidr-error"/)
      assert.match(page.text, /id="errors"[\s\S]*href="#cidr"/)
      assert.strictEqual(fieldIn(page, "cidr"), "10.0.0.1/8")
      assert.strictEqual(fieldIn(page, "label"), "typed")
      const hours = yield* post("/ip-allow", { cidr: "10.0.0.0/8", label: "", hours: "soon" })
      assert.strictEqual(hours.status, 422)
      assert.match(hours.text, /id="hours-error"/)
      assert.lengthOf(yield* rules, 0)
    })
  )

  it.effect("'Add my address' adds the client address that the API sees", () =>
    Effect.gen(function* () {
      const { post, rules } = yield* withProject("mine@example.com")
      yield* post("/ip-allow", { use: "client-address", cidr: "", label: "me", hours: "" })
      assert.deepStrictEqual((yield* rules).map(inShort), [{ cidr: "127.0.0.1/32", label: "me", hours: null }])
    })
  )

  it.effect("the first rule asks before it locks out the person who adds it", () =>
    Effect.gen(function* () {
      const { post, rules } = yield* withProject("lockout@example.com")
      const sent = { cidr: "203.0.113.0/24", label: "office", hours: "8" }
      const asked = yield* post("/ip-allow", sent)
      assert.strictEqual(asked.status, 409)
      assert.match(asked.text, /This rule would lock you out\.[\s\S]*127\.0\.0\.1/)
      assert.lengthOf(yield* rules, 0)
      yield* post("/ip-allow", { ...sent, confirmed: "true", with_own: "true" })
      assert.deepStrictEqual((yield* rules).map(inShort), [
        { cidr: "127.0.0.1/32", label: "", hours: null },
        { cidr: "203.0.113.0/24", label: "office", hours: 8 }
      ])
      // Not the first any more: no question.
      assert.strictEqual((yield* post("/ip-allow", { ...sent, cidr: "198.51.100.0/24" })).status, 303)
    })
  )

  it.effect("the first rule that holds the person's address is added without a question", () =>
    Effect.gen(function* () {
      const { post, rules } = yield* withProject("covered@example.com")
      assert.strictEqual((yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: "", hours: "" })).status, 303)
      assert.lengthOf(yield* rules, 1)
    })
  )

  it.effect("a rule is edited in a form that starts with what it has", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("edits@example.com")
      yield* post("/ip-allow", rule("10.0.0.0/8", { label: "office" }))
      const form = yield* open("/ip-allow?edit=10.0.0.0%2F8")
      assert.match(form.text, /Edit 10\.0\.0\.0\/8/)
      assert.strictEqual(fieldIn(form, "label"), "office")
      assert.strictEqual(fieldIn(form, "edited"), "10.0.0.0/8")
      const wrong = yield* post("/ip-allow", rule("10.0.0.0/8", { edited: "10.0.0.0/8", label: "x".repeat(300) }))
      assert.strictEqual(wrong.status, 422)
      assert.strictEqual(fieldIn(wrong, "edited"), "10.0.0.0/8")
      const saved = yield* post("/ip-allow", rule("10.0.0.0/8", { edited: "10.0.0.0/8", label: "home" }))
      assert.match(saved.headers.get("location") ?? "", /\?done=rule-changed$/)
    })
  )

  it.effect("an address is checked, and the answer names the network that holds it", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("checks@example.com")
      assert.match((yield* open("/ip-allow?address=203.0.113.9")).text, /the list is empty, so any address may/)
      yield* post("/ip-allow", rule("203.0.113.0/24"))
      assert.match((yield* open("/ip-allow?address=203.0.113.9")).text, /<code>203\.0\.113\.0\/24<\/code> contains it/)
      assert.match(
        (yield* open("/ip-allow?address=198.51.100.9")).text,
        /is refused: no network on the list contains it/
      )
      const wrong = yield* open("/ip-allow?address=shop%3A5432")
      assert.strictEqual(wrong.status, 200)
      assert.match(wrong.text, /id="address-error">Enter one address without port/)
    })
  )

  it.effect("the last refused clients are listed with endpoint, times and credential, and a way to allow each", () =>
    Effect.gen(function* () {
      const { api, client, here, open, post, project } = yield* withProject("refusals@example.com")
      const { endpoint_id } = project
      const branch = { project_id: project.id, branch_id: project.branch_id }
      const { credential } = yield* go(() => client.branches.mint({ ...branch, access: "read_only" }))
      assert.match((yield* open("/ip-allow")).text, /No client was refused/)
      yield* post("/ip-allow", rule("203.0.113.0/24"))
      yield* go(() =>
        api.refuse(
          { endpoint_id, address: "198.51.100.7", count: 12, role: credential.role },
          { endpoint_id, address: "2001:db8::7" },
          { endpoint_id, address: "203.0.113.9", count: 2 },
          { endpoint_id, address: "198.51.100.8", count: 3, reason: "rules_unknown" }
        )
      )
      const { text } = yield* open("/ip-allow")
      const table = /id="refusals"[\s\S]*?<\/section>/.exec(text)?.[0] ?? ""
      const rows = [...table.matchAll(/<tr role="row"><th role="rowheader"[\s\S]*?<\/tr>/g)].map(([row]) => row)
      assert.lengthOf(rows, 4)
      const [first = "", six = "", allowed = "", unchecked = ""] = rows
      assert.match(first, /<code>198\.51\.100\.7<\/code>[\s\S]*>12<[\s\S]*<time/)
      assert.include(first, `href="${here}/endpoints/${project.endpoint_id}"`)
      assert.include(first, `as <code>${credential.role}</code>`)
      assert.include(first, `href="${here}/ip-allow?allow=198.51.100.7#rule"`)
      assert.include(six, `href="${here}/ip-allow?allow=2001%3Adb8%3A%3A7#rule"`)
      assert.match(allowed, /may connect now/)
      assert.match(unchecked, /the rules could not be checked/)
      for (const row of [allowed, unchecked]) assert.notInclude(row, "?allow=")
    })
  )

  it.effect("a client that was refused at a deleted endpoint is listed without a link", () =>
    Effect.gen(function* () {
      const { api, client, here, open, project, settled } = yield* withProject("refused-there@example.com")
      const path = { project_id: project.id }
      const { endpoint } = yield* go(() =>
        client.endpoints.create({ ...path, branch_id: project.branch_id, type: "read_only" })
      )
      const gone = endpoint.id
      yield* settled
      yield* go(() =>
        api.refuse(
          { endpoint_id: project.endpoint_id, address: "198.51.100.7" },
          { endpoint_id: gone, address: "198.51.100.8" }
        )
      )
      yield* go(() => client.endpoints.delete({ ...path, endpoint_id: gone }))
      const { text } = yield* open("/ip-allow")
      assert.include(text, `href="${here}/endpoints/${project.endpoint_id}"`)
      assert.notInclude(text, `href="${here}/endpoints/${gone}"`)
      assert.include(text, `<code title="${gone}">ep-…${gone.slice(-6)}</code> <span class="faint">deleted<`)
    })
  )

  it.effect("allowing a refused client begins with its address in the form, and any other text is ignored", () =>
    Effect.gen(function* () {
      const { open, post, rules } = yield* withProject("prefilled@example.com")
      for (const address of ["198.51.100.7", "2001:db8::7"]) {
        const form = yield* open(`/ip-allow?allow=${encodeURIComponent(address)}`)
        assert.strictEqual(fieldIn(form, "cidr"), address)
        assert.match(form.text, /<input[^>]*id="cidr"[^>]* autofocus/)
      }
      for (const text of ["", "Call 555 0100", "10.0.0.1/8", "%00"])
        assert.match(
          (yield* open(`/ip-allow?allow=${encodeURIComponent(text)}`)).text,
          /id="cidr"[^>]* value placeholder/
        )
      assert.notMatch((yield* open("/ip-allow")).text, /id="cidr"[^>]* autofocus/)
      yield* post("/ip-allow", rule("198.51.100.7"))
      assert.deepStrictEqual(
        (yield* rules).map(({ cidr }) => cidr),
        ["198.51.100.7/32"]
      )
    })
  )

  it.effect("more than twenty refused clients are pages, and a place that does not exist is the first", () =>
    Effect.gen(function* () {
      const { api, open, project } = yield* withProject("many-refusals@example.com")
      const clients = Array.from({ length: 25 }, (_, n) => `198.51.100.${n}`)
      yield* go(() => api.refuse(...clients.map((address) => ({ endpoint_id: project.endpoint_id, address }))))
      const first = (yield* open("/ip-allow")).text
      assert.include(first, "<code>198.51.100.19</code>")
      assert.notInclude(first, "<code>198.51.100.20</code>")
      const next = /href="([^"]*\?refused=[^"]*)#refusals"/.exec(first)?.[1] ?? ""
      const second = (yield* open(`/ip-allow${next.slice(next.indexOf("?"))}`)).text
      assert.include(second, "<code>198.51.100.24</code>")
      assert.notInclude(second, "<code>198.51.100.19</code>")
      assert.include((yield* open("/ip-allow?refused=nonsense")).text, "<code>198.51.100.0</code>")
    })
  )

  it.effect("removing a rule asks before the last one, and before the one that admits the person", () =>
    Effect.gen(function* () {
      const { open, post, rules } = yield* withProject("remove@example.com")
      for (const cidr of ["10.0.0.0/8", "192.0.2.0/24", "127.0.0.1/32"]) yield* post("/ip-allow", rule(cidr))
      const three = (yield* open("/ip-allow")).text
      assert.notMatch(three, /This is the last rule/)
      assert.lengthOf(three.match(/<dialog id="remove-rule-/g) ?? [], 1)
      assert.match(three, /No other rule contains your address/)
      for (const cidr of ["127.0.0.1/32", "10.0.0.0/8"]) yield* post("/ip-allow/remove", { cidr })
      assert.deepStrictEqual(
        (yield* rules).map(({ cidr }) => cidr),
        ["192.0.2.0/24"]
      )
      const one = (yield* open("/ip-allow")).text
      assert.match(one, /This is the last rule\. The project will accept connections from any address/)
      assert.match(one, /is not on the list, so your own connections are refused/)
      for (const cidr of ["../../other", ""])
        assert.strictEqual((yield* post("/ip-allow/remove", { cidr })).status, 422)
      assert.lengthOf(yield* rules, 1)
      assert.strictEqual((yield* post("/ip-allow/remove", { cidr: "10.0.0.0/8" })).status, 303, "already removed")
    })
  )

  it.effect("the page says when the project opens if every rule expires", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("opens@example.com")
      yield* post("/ip-allow", rule("10.0.0.0/8", { hours: "24" }))
      assert.match((yield* open("/ip-allow")).text, /Every rule expires\. From .*\d{4}-\d\d-\d\d \d\d:\d\d UTC/)
      yield* post("/ip-allow", rule("192.0.2.0/24"))
      assert.notMatch((yield* open("/ip-allow")).text, /Every rule expires/)
    })
  )

  it.effect("the pages say that IPv6 is refused while every IPv4 address is listed", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("families@example.com")
      yield* post("/ip-allow", rule("0.0.0.0/0"))
      for (const page of ["/ip-allow", ""])
        assert.match((yield* open(page)).text, /every IPv4 address and no IPv6 address/, page)
      yield* post("/ip-allow", rule("::/0"))
      for (const page of ["/ip-allow", ""]) assert.notMatch((yield* open(page)).text, /no IPv6 address/, page)
    })
  )

  it.effect("all rules are removed only after the project's name was typed", () =>
    Effect.gen(function* () {
      const { open, post, rules } = yield* withProject("reset@example.com")
      yield* post("/ip-allow", rule("10.0.0.0/8"))
      const { text } = yield* open("/ip-allow")
      assert.match(text, /<dialog id="reset-allowlist"[\s\S]*?will accept connections from any address/)
      assert.strictEqual((yield* post("/ip-allow/reset", {})).status, 422)
      assert.lengthOf(yield* rules, 1)
      yield* post("/ip-allow/reset", { typed: "storefront" })
      assert.lengthOf(yield* rules, 0)
    })
  )

  it.effect("a person who only reads can check an address and change nothing", () =>
    Effect.gen(function* () {
      const { api, demote, open, post, project } = yield* withProject("readers@example.com")
      yield* post("/ip-allow", rule("10.0.0.0/8"))
      yield* go(() => api.refuse({ endpoint_id: project.endpoint_id, address: "198.51.100.7" }))
      yield* demote
      const { text } = yield* open("/ip-allow")
      assert.include(text, "<code>198.51.100.7</code>")
      assert.notInclude(text, "?allow=")
      assert.match(text, /Why was I refused/)
      assert.notMatch(text, /method="post" action="[^"]*ip-allow/)
    })
  )
})

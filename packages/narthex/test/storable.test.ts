/** Text that Postgres cannot hold, in every text that a host passes: one answer on every storage (N40). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { type ControlPlane, createControlPlane, isNarthexError, memory, postgres, type Storage } from "../src/index.ts"

const impossible = ["nul \u0000 inside", "half a pair \ud83d", "\udc00 the other half"]

const replaced = (text: string) => text.replace("\u0000", "\ufffd").toWellFormed()

const anything = { "~standard": { version: 1, validate: (value: unknown) => ({ value }) } } as const

const controlPlane = (storage: Storage) =>
  createControlPlane({
    log: "off",
    storage,
    secret: "A".repeat(43),
    eventTypes: { "note.made.v1": anything }
  })

/** Runs the work on each storage. */
const onEach = async (work: (cp: ControlPlane, name: string) => Promise<void>) => {
  {
    await using cp = await controlPlane(memory())
    await work(cp, "memory")
  }
  const runtime = ManagedRuntime.make(PostgresServer.layer)
  await runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const url = yield* (yield* PostgresServer).migrated
        yield* Effect.promise(async () => {
          await using cp = await controlPlane(postgres(Redacted.value(url)))
          await work(cp, "Postgres")
        })
      })
    )
  )
  await runtime.dispose()
}

const answerOf = (call: Promise<unknown>) =>
  call.then(
    () => "done",
    (error: unknown) => (isNarthexError(error) ? `${error.code}: ${error.message}` : String(error))
  )

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true, name: "Ada" }

describe("text that storage cannot hold", { timeout: 120_000 }, () => {
  it("where and with what a person signed in is stored with a replacement, and the session is valid", () =>
    onEach(async (cp, name) => {
      const person = await cp.people.ensure(ada)
      for (const text of impossible) {
        const session = await cp.sessions.start(person, { user_agent: text, address: text })
        const { sessions } = await cp.client(session).auth.sessions()
        const [latest] = sessions
        const kept = replaced(text)
        assert.deepInclude(latest, { user_agent: kept, address: kept }, name)
      }
      const long = `${"x".repeat(255)}😀 and more`
      const { sessions } = await cp.client(await cp.sessions.start(person, { user_agent: long })).auth.sessions()
      assert.strictEqual(sessions[0]?.user_agent, `${"x".repeat(255)}\ufffd`, name)
    }))

  it("the address with which a key is used is stored with a replacement", () =>
    onEach(async (cp, name) => {
      const client = cp.client(await cp.sessions.start(await cp.people.ensure(ada)))
      for (const text of impossible) {
        const { api_key, secret } = await client.apiKeys.create({ name: "ci", capability: "read" })
        await cp.authenticate(secret, { address: text })
        const { api_keys } = await client.apiKeys.list()
        const used = api_keys.find(({ id }) => id === api_key.id)
        assert.strictEqual(used?.last_used_from, replaced(text), name)
      }
    }))

  it("a text that identifies, names or reports something is refused, and the sentence names the member", () =>
    onEach(async (cp, name) => {
      const person = await cp.people.ensure(ada)
      const session = await cp.sessions.start(person)
      const client = cp.client(session)
      const { project } = await client.projects.create({ name: "shop" })
      const { personal_org_id: org_id } = person
      const publish = (data: unknown) => cp.events.publish({ org_id, type: "note.made.v1", data })
      const project_id = project.id
      for (const text of impossible) {
        const answers = {
          subject: await answerOf(cp.people.ensure({ ...ada, subject: text })),
          email: await answerOf(cp.people.ensure({ ...ada, email: `${text.replaceAll(" ", "")}@example.com` })),
          name: await answerOf(cp.people.ensure({ ...ada, name: text })),
          "data.note": await answerOf(publish({ note: text })),
          "data.list.0": await answerOf(publish({ list: [text] })),
          data: await answerOf(publish({ [text]: 1 })),
          "project name": await answerOf(client.projects.create({ name: text })),
          label: await answerOf(client.ipAllow.add({ project_id, cidr: "203.0.113.0/24", label: text })),
          idempotencyKey: await answerOf(client.projects.create({ name: "shop" }, { idempotencyKey: text })),
          "x-note": await answerOf(client.regions.list({}, { headers: { "x-note": text } })),
          credential: await answerOf(client.regions.list({}, { credential: text }))
        }
        for (const [member, answer] of Object.entries(answers)) {
          const code = member.startsWith("data") ? "event_data_invalid" : /^(invalid_request|invalid_input)/
          assert.match(answer, new RegExp(code), `${name}, ${member}`)
          assert.include(answer, member.split(" ").at(-1)?.split(".").at(-1) ?? "", `${name}, ${member}`)
        }
        // Ids are answered like unknown ones.
        for (const call of [
          () => cp.sessions.start(text),
          () => cp.ipAllowlist.permits(text, "203.0.113.9"),
          () => cp.operations.waitFor(text),
          () => cp.events.publish({ org_id: text, type: "note.made.v1", data: {} }),
          () => cp.events.publish({ org_id, project_id: text, type: "note.made.v1", data: {} }),
          () => cp.events.subscribe({ org_id: text })[Symbol.asyncIterator]().next(),
          () => cp.events.subscribe({ org_id, project_id: text })[Symbol.asyncIterator]().next()
        ])
          assert.match(await answerOf(call()), /^not_found/, name)
        assert.match(await answerOf(cp.authenticate(text)), /^invalid_token/, name)
        assert.match(await answerOf(cp.sessions.exchange({ id_token: text, provider: text })), /^invalid_token/, name)
        assert.isFalse(await cp.ipAllowlist.permits(project_id, text), name)
      }
    }))

  it("a credential that no header can carry fails at once instead of after repetitions", () =>
    onEach(async (cp, name) => {
      const answer = await answerOf(cp.client("nsk_…").regions.list())
      assert.match(answer, /^invalid_input: credential: /, name)
      assert.notInclude(answer, "nsk_", name)
    }))
})

/**
 * The host's transaction and the host's events, with promises and each supported driver.
 * Holds docs/design/library.md N34 and N45.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { until, within } from "../../../test/harness/eventually.ts"
import { type Host, hosts } from "../../postgres/test/host/hosts.ts"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { type ControlPlane, createControlPlane, postgres } from "../src/index.ts"
import { codeOf } from "./support/codeOf.ts"

const paid = {
  "~standard": {
    version: 1,
    validate: (value: unknown) =>
      typeof (value as { readonly amount?: unknown }).amount === "number"
        ? { value }
        : { issues: [{ message: "must be a number", path: ["amount"] }] }
  }
} as const

const eventTypes = { "invoice.paid.v1": paid }

const withMemory = async (work: (cp: ControlPlane) => Promise<void>) => {
  await using cp = await createControlPlane({ log: "off", eventTypes })
  await work(cp)
}

const history = async (cp: ControlPlane, session: Parameters<ControlPlane["client"]>[0]) => {
  const { events } = await cp.client(session).events.history({})
  return events.map(({ data }) => data["amount"])
}

/** A control plane on a database of its own, and a host's table in it. */
const withPostgres = async (work: (cp: ControlPlane, url: string) => Promise<void>) => {
  const runtime = ManagedRuntime.make(PostgresServer.layer)
  await runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const url = yield* server.database
        yield* server.admin("create table invoice (n int)", url)
        yield* Effect.promise(async () => {
          await using cp = await createControlPlane({
            log: "off",
            eventTypes,
            storage: postgres(Redacted.value(url)),
            secret: Buffer.alloc(32, 7).toString("base64url")
          })
          await work(cp, Redacted.value(url))
        })
      })
    )
  )
  await runtime.dispose()
}

describe("events of the host", () => {
  it("an event that the host publishes is in the history and in subscriptions", () =>
    withMemory(async (cp) => {
      const person = await cp.people.ensure({ subject: "ada" })
      const session = await cp.sessions.start(person)
      const items = cp.events.subscribe({ org_id: person.personal_org_id })[Symbol.asyncIterator]()
      const event = { org_id: person.personal_org_id, type: "invoice.paid.v1" }
      await cp.events.publish({ ...event, data: { amount: 3 } })
      const { value } = await items.next()
      assert.deepInclude(value.event, { type: "invoice.paid.v1", source: "host", data: { amount: 3 } })
      assert.deepStrictEqual(await history(cp, session), [3])
      await items.return?.()
      assert.strictEqual(await codeOf(cp.events.publish({ ...event, data: { amount: "3" } })), "event_data_invalid")
      const undeclared = { ...event, type: "invoice.lost.v1", data: {} }
      assert.strictEqual(await codeOf(cp.events.publish(undeclared)), "event_type_undeclared")
      const elsewhere = { ...event, org_id: "none", data: { amount: 3 } }
      assert.strictEqual(await codeOf(cp.events.publish(elsewhere)), "not_found")
    }))

  it("an event that the host publishes is on the stream of its project, and a stream resumes after it", () =>
    withMemory(async (cp) => {
      const person = await cp.people.ensure({ subject: "ada" })
      const client = cp.client(await cp.sessions.start(person))
      const { project } = await client.projects.create({ name: "shop" })
      const { project: other } = await client.projects.create({ name: "other" })
      const publish = (amount: number, project_id: string | null = project.id) =>
        cp.events.publish({ org_id: person.personal_org_id, project_id, type: "invoice.paid.v1", data: { amount } })
      const following = (after?: string) => {
        const options = {
          project_id: project.id,
          types: ["invoice.paid.v1"],
          ...(after === undefined ? {} : { after })
        }
        const items = client.events.subscribe(options)[Symbol.asyncIterator]()
        return {
          end: () => items.return?.(),
          /** The next item of this kind. */
          next: async (kind: "connected" | "event") => {
            for (;;) {
              const { value } = await within("an item of the stream", items.next())
              if (value.kind === kind) return value
            }
          }
        }
      }
      const live = following()
      await live.next("connected")
      // Events of the organization and of another project are not on the project's stream.
      for (const project_id of [null, other.id, project.id]) await publish(1, project_id)
      await publish(2)
      const first = await live.next("event")
      assert.deepInclude(first.event, { source: "host", project_id: project.id, data: { amount: 1 } })
      assert.deepInclude((await live.next("event")).event, { data: { amount: 2 } })
      await live.end()
      await publish(3)
      const resumed = following(first.event.id)
      const amounts = [await resumed.next("event"), await resumed.next("event")].map(({ event }) => event.data)
      assert.deepStrictEqual(amounts, [{ amount: 2 }, { amount: 3 }])
      await resumed.end()
    }))

  it("a type of the control plane cannot be declared", async () => {
    const declared = { "operation.updated.v1": paid }
    assert.strictEqual(await codeOf(createControlPlane({ log: "off", eventTypes: declared })), "invalid_options")
  })

  it("storage in memory has no transaction of a host", () =>
    withMemory(async (cp) => {
      assert.strictEqual(await codeOf(cp.transaction({}, async () => {})), "transaction_refused")
    }))
})

describe("the host's transaction", () => {
  it("people, sessions, events, projects and keys commit with the host's rows, or not at all", () =>
    withPostgres(async (cp, url) => {
      for (const kind of [hosts.nodePostgres, hosts.postgresJs, hosts.drizzleNodePostgres, hosts.drizzlePostgresJs]) {
        const { close, host } = kind.open(url)
        try {
          await commits(cp, host, kind.name)
          await rollsBack(cp, host, kind.name)
          await outlives(cp, host, kind.name)
          await callsTheApi(cp, host, kind.name)
        } finally {
          await close()
        }
      }
    }))
})

const commits = async (cp: ControlPlane, host: Host, subject: string) => {
  const session = await host.transaction(async (tx, own) => {
    await own("insert into invoice values (1)")
    return await cp.transaction(tx, async ({ events, people, sessions }) => {
      const person = await people.ensure({ subject })
      await events.publish({ org_id: person.personal_org_id, type: "invoice.paid.v1", data: { amount: 1 } })
      await events.publish({ org_id: person.personal_org_id, type: "invoice.paid.v1", data: { amount: 2 } })
      return await sessions.start(person)
    })
  })
  await until("the events to be sequenced", async () => (await history(cp, session)).length === 2)
  assert.deepStrictEqual(await history(cp, session), [1, 2])
}

const rollsBack = async (cp: ControlPlane, host: Host, subject: string) => {
  const reason = new Error("the host's reason")
  let leaked: (() => Promise<unknown>) | undefined
  const call = (tx: object) =>
    cp.transaction(tx, async ({ people }) => {
      leaked = () => people.ensure({ subject: `late ${subject}` })
      await people.ensure({ subject: `undone ${subject}`, name: "before" })
      throw reason
    })
  // The call is undone, and the host may still commit.
  const caught: unknown = await host.transaction((tx) => call(tx).catch((error: unknown) => error))
  assert.strictEqual(caught, reason)
  // Calls that outlive the callback change nothing.
  assert.strictEqual(await codeOf(leaked?.() ?? Promise.resolve()), "transaction_refused")
  // The same with the host's rollback.
  const whole: unknown = await host.transaction(call).catch((error: unknown) => error)
  assert.strictEqual(whole, reason)
  const { name } = await cp.people.ensure({ subject: `undone ${subject}` })
  assert.isNull(name)
  const refused = cp.transaction(host.outside, ({ people }) => people.ensure({ subject }))
  assert.strictEqual(await codeOf(refused), "transaction_refused")
}

/** Calls that the callback does not await: none may resolve and be lost. */
const outlives = async (cp: ControlPlane, host: Host, subject: string) => {
  const person = await cp.people.ensure({ subject })
  const session = await cp.sessions.start(person)
  const before = (await history(cp, session)).length
  let floating: Promise<unknown> = Promise.resolve()
  await host.transaction((tx) =>
    cp.transaction(tx, async ({ events, people }) => {
      await people.ensure({ subject })
      const event = { org_id: person.personal_org_id, type: "invoice.paid.v1", data: { amount: 9 } }
      floating = codeOf(events.publish(event))
    })
  )
  assert.strictEqual(await floating, "transaction_refused")
  assert.lengthOf(await history(cp, session), before)
}

/** Calls of the API, as part of the host's transaction. */
const callsTheApi = async (cp: ControlPlane, host: Host, name: string) => {
  const session = await cp.sessions.start(await cp.people.ensure({ subject: `api ${name}` }))
  const outside = cp.client(session)
  const projects = async () => (await outside.projects.list({})).projects.map((it) => it.name)
  const make = async (client: ReturnType<ControlPlane["client"]>) => {
    const { project } = await client.projects.create({ name })
    const { api_key, secret } = await client.apiKeys.create({ name, scope: `project:${project.id}` })
    return { secret, id: api_key.id, project_id: project.id }
  }
  const made = await host.transaction((tx) =>
    cp.transaction(tx, async ({ authenticate, client }) => {
      const { secret, ...made } = await make(client(session))
      // The transaction sees what it has made; no one else does.
      assert.strictEqual((await client(secret).projects.get({ project_id: made.project_id })).project.name, name)
      await (await authenticate(secret)).require("read", { project_id: made.project_id })
      assert.strictEqual(await codeOf(cp.authenticate(secret)), "invalid_token")
      assert.deepStrictEqual(await projects(), [])
      return { ...made, secret }
    })
  )
  assert.deepStrictEqual(await projects(), [name])
  assert.strictEqual((await cp.authenticate(made.secret)).api_key?.id, made.id)

  const rolledBack = host.transaction(async (tx) => {
    await cp.transaction(tx, async ({ client }) => void (await make(client(session))))
    throw new Error("the host's reason")
  })
  assert.instanceOf(await rolledBack.catch((error: unknown) => error), Error)
  // A change that is refused undoes what was done before it, also when its error is caught.
  const unfinished = host.transaction((tx) =>
    cp.transaction(tx, async ({ client }) => {
      await make(client(session))
      assert.strictEqual(await codeOf(client(session).projects.delete({ project_id: "none" })), "not_found")
    })
  )
  assert.strictEqual(await codeOf(unfinished), "transaction_refused")
  let floating: Promise<unknown> = Promise.resolve()
  const notAwaited = host.transaction((tx) =>
    cp.transaction(tx, async ({ client }) => {
      floating = codeOf(client(session).projects.create({ name }))
    })
  )
  assert.strictEqual(await codeOf(notAwaited), "transaction_refused")
  assert.strictEqual(await floating, "transaction_refused")
  // A read that is not awaited may have seen what is undone, or nothing of it.
  let reading: Promise<unknown> = Promise.resolve()
  await host.transaction((tx) =>
    cp.transaction(tx, async ({ client }) => {
      reading = codeOf(client(session).projects.list({}))
    })
  )
  assert.strictEqual(await reading, "transaction_refused")
  const endless = await host.transaction((tx) =>
    cp.transaction(tx, async ({ client }) => {
      const { events, operations, proxy } = client(session)
      const input = { project_id: made.project_id, operation_id: "none", wait: "1s" }
      const waits = await codeOf(operations.get(input))
      const follows = await codeOf(events.subscribe()[Symbol.asyncIterator]().next())
      return [
        waits,
        follows,
        await codeOf(events.projectStream({ project_id: made.project_id })),
        await codeOf(proxy.changes())
      ]
    })
  )
  assert.deepStrictEqual([...new Set(endless)], ["transaction_refused"])
  assert.deepStrictEqual(await projects(), [name])
}

/** Clients in the process: which options make none, and signals of another realm (docs/design/library.md N38). */
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import { makeClients } from "../src/host/clients.ts"
import { createControlPlane, isNarthexError } from "../src/index.ts"
import { simulate } from "../src/testing.ts"

/** The arguments of these tests have types that TypeScript refuses. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Untyped = any

const thrownBy = (make: () => unknown): string => {
  try {
    make()
    return "makes a client"
  } catch (error) {
    return isNarthexError(error) ? `${error.code}: ${error.message}` : String(error)
  }
}

describe("a client in the process", () => {
  it("no client is made for a credential or options that are none, and the sentence names the member", async () => {
    await using cp = await createControlPlane({ log: "off" })
    await using world = await simulate()
    const wrongs: ReadonlyArray<readonly [given: ReadonlyArray<unknown>, says: string]> = [
      [[null], "credential: Expected an API key"],
      [[42], "credential: Expected an API key"],
      [[{}], "credential: Expected an API key"],
      [[{ access_token: 1 }], "credential: Expected an API key"],
      [["nsk_x", null], "options: expected an object with headers, onRefresh, retries, not null"],
      [["nsk_x", 5], "options: expected an object"],
      [["nsk_x", { retry: 1 }], "options.retry: there is no such member"],
      [["nsk_x", { baseUrl: "http://elsewhere.example" }], "options.baseUrl: there is no such member"],
      [["nsk_x", { retries: null }], "retries: Expected false or an object with times, delay, attempt, within"],
      [["nsk_x", { retries: true }], "retries: Expected false or an object with times, delay, attempt, within"],
      [["nsk_x", { retries: 3 }], "retries: Expected false or an object with times, delay, attempt, within"],
      [["nsk_x", { retries: { time: 3 } }], "retries.time: There is no such member"],
      [["nsk_x", { retries: { times: "3" } }], "retries.times: Expected a whole number from 0"],
      [["nsk_x", { retries: { times: 0.5 } }], "retries.times: Expected a whole number from 0"],
      [["nsk_x", { retries: { within: Number.NaN } }], "retries.within: Expected a number of milliseconds from 0"],
      [["nsk_x", { headers: null }], "headers: Expected an object with names and texts of headers"],
      [["nsk_x", { headers: "x-a: b" }], "headers: Expected an object with names and texts of headers"],
      [["nsk_x", { headers: new Headers({ a: "b" }) }], "headers: Expected an object with names and texts of headers"],
      [["nsk_x", { headers: { a: 5 } }], "headers.a: Expected a name and a text"],
      [["nsk_x", { headers: { a: "b\nc" } }], "headers.a: Expected a name and a text"],
      [["nsk_x", { headers: { "a b": "c" } }], "headers.a b: Expected a name and a text"],
      [["nsk_x", { onRefresh: null }], "onRefresh: Expected a function"]
    ]
    const said: Array<string> = []
    for (const [given, says] of wrongs)
      for (const client of [cp.client, world.client] as ReadonlyArray<Untyped>) {
        const failure = thrownBy(() => client(...given))
        if (!failure.startsWith(`invalid_input: ${says}`)) said.push(`${says}: ${failure}`)
      }
    assert.deepStrictEqual(said, [])
  })

  it("a call is not repeated inside of a transaction, also with `retries` of undefined", async () => {
    let asked = 0
    const busy = async () => {
      asked += 1
      return new Response(null, { status: 503 })
    }
    const make = makeClients(busy, "", { retries: false })
    // A program without types may pass this.
    const options = { retries: undefined } as unknown as Parameters<typeof make>[1]
    assert.isTrue(
      isNarthexError(
        await make("nsk_x", options)
          .regions.list()
          .catch((error: unknown) => error)
      )
    )
    assert.strictEqual(asked, 1)
  })
})

/** A signal as another realm has it, for example a test runner's, and what aborts it. */
const foreignSignal = () => {
  const target = new EventTarget()
  const state = { aborted: false }
  const signal: Untyped = runInNewContext(
    "({ get aborted() { return state.aborted }, addEventListener: (...a) => target.addEventListener(...a), removeEventListener: (...a) => target.removeEventListener(...a) })",
    { state, target }
  )
  return {
    signal,
    abort: () => {
      state.aborted = true
      target.dispatchEvent(new Event("abort"))
    }
  }
}

describe("a signal of another realm", () => {
  it("a signal of another realm ends a subscription and a wait, and an aborted one does at once", async () => {
    await using cp = await createControlPlane({ log: "off" })
    const ada = await cp.people.ensure({ subject: "user_42" })
    const client = cp.client(await cp.sessions.start(ada))
    const { signal, abort } = foreignSignal()
    const items = cp.events.subscribe({ org_id: ada.personal_org_id, signal })[Symbol.asyncIterator]()
    const { project } = await client.projects.create({ name: "shop" })
    assert.strictEqual((await within("an event", items.next())).value?.kind, "event")
    const last = items.next().then(async (item) => (item.done ? item : items.next()))
    abort()
    assert.isTrue((await within("the end of the loop", last)).done)
    const next = cp.events.subscribe({ org_id: ada.personal_org_id, signal })[Symbol.asyncIterator]().next()
    assert.isTrue((await within("the end of a loop that was over", next)).done)
    assert.isString(project.id)
  })
})

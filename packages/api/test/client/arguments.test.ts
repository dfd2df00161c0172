/** Arguments of the promise client that the types exclude, as programs in JavaScript pass them (docs/design/client.md L9). */
import { assert, describe, it } from "@effect/vitest"
import { createClient, isNarthexError } from "@narthex/api"
import { within } from "../../../../test/harness/eventually.ts"

/** The arguments of these tests have types that TypeScript refuses. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Untyped = any

const broken = (): never => {
  throw new Error("s3cret")
}
const breaking = (member: string) => Object.defineProperty({}, member, { enumerable: true, get: broken })

const said = (error: unknown) => (isNarthexError(error) ? `${error.code}: ${error.message}` : `?? ${String(error)}`)

/** How a call ends: it must reject, neither throw nor wait. */
const endOf = async (call: () => unknown) => {
  let promise: unknown
  try {
    promise = call()
  } catch (error) {
    return `throws ${said(error)}`
  }
  return within(
    "the call",
    Promise.resolve(promise).then((value) => `resolves with ${JSON.stringify(value)}`, said)
  )
}

const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

describe("options of createClient", () => {
  it("no client is made for options that are none, and the sentence names the member", () => {
    const wrongs: ReadonlyArray<readonly [options: Untyped, says: string]> = [
      [undefined, "options: Expected an object"],
      [null, "options: Expected an object"],
      ["https://api.example", "options: Expected an object"],
      [{}, "baseUrl: "],
      [{ baseUrl: 5 }, "baseUrl: Expected an http or https URL"],
      [{ baseUrl: "api.example" }, "baseUrl: Expected an http or https URL"],
      [{ baseUrl: "ftp://api.example" }, "baseUrl: Expected an http or https URL"],
      [{ credential: null }, "credential: Expected an API key"],
      [{ credential: 5 }, "credential: Expected an API key"],
      [{ credential: { access_token: 5 } }, "credential: Expected an API key"],
      [{ token: "s3cret" }, "token: "],
      [{ fetch: {} }, "fetch: Expected a function"],
      [{ onRefresh: null }, "onRefresh: Expected a function"],
      [{ headers: null }, "headers: Expected an object with names"],
      [{ headers: new Headers({ a: "b" }) }, "headers: Expected an object with names"],
      [{ headers: [["a", "b"]] }, "headers: Expected an object with names"],
      [{ headers: { "a b": "c" } }, "headers.a b: Expected a name and a text"],
      [{ headers: { a: 5 } }, "headers.a: Expected a name and a text"],
      [{ retries: null }, "retries: Expected"],
      [{ retries: true }, "retries: Expected"],
      [{ retries: { time: 1 } }, "retries.time: "],
      [{ retries: { times: 0.5 } }, "retries.times: Expected a whole number"],
      [{ retries: { within: Number.NaN } }, "retries.within: Expected a number"],
      [breaking("headers"), "options: Reading a member failed"]
    ]
    const wrong: Array<string> = []
    for (const [options, says] of wrongs) {
      const whole = Object(options) === options && says !== "baseUrl: " && !("baseUrl" in options)
      if (whole) Object.defineProperty(options, "baseUrl", { enumerable: true, value: "https://api.example" })
      let failure = "makes a client"
      try {
        createClient(options)
      } catch (error) {
        failure = said(error)
      }
      if (!failure.startsWith(`invalid_input: ${says}`) || failure.includes("s3cret")) wrong.push(`${says}: ${failure}`)
    }
    assert.deepStrictEqual(wrong, [])
  })
})

/** An object whose every use throws. */
const revokedProxy = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe("arguments of the client's calls", () => {
  it("every call with a wrong argument rejects with invalid_input, and nothing is sent", async () => {
    let sent = 0
    const send = async () => {
      sent += 1
      return new Response("{}", { status: 500 })
    }
    const client: Untyped = createClient({ baseUrl: "https://api.example", retries: false, fetch: send })
    const shop = { name: "shop" }
    const create = (...given: ReadonlyArray<unknown>) => client.projects.create(...given)
    const follow = (given: unknown) => first(client.events.subscribe(given))
    const wait = (...given: ReadonlyArray<unknown>) => client.operations.waitFor(...given)
    const one = { id: "op-1", project_id: "prj-1" }
    const wrongs: ReadonlyArray<readonly [call: () => unknown, says: string]> = [
      [() => create(null), "The input of a call is an object"],
      [() => create("shop"), "The input of a call is an object"],
      [() => create([shop]), "The input of a call is an object"],
      [() => create(breaking("name")), "Reading a member failed"],
      [() => client.projects.get({ project_id: ".." }), "project_id: Expected an id"],
      [() => client.projects.get({ project_id: "a\ud800" }), "project_id: Expected an id"],
      [() => create(shop, null), "options: Expected an object"],
      [() => create(shop, revokedProxy()), "options: Reading a member failed"],
      [() => create(shop, "key"), "options: Expected an object"],
      [() => create(shop, { idempotencykey: "x" }), "idempotencykey: "],
      [() => create(shop, { idempotencyKey: 5 }), "idempotencyKey: Expected text"],
      [() => create(shop, { credential: { access_token: "x" } }), "credential: Expected text"],
      [() => create(shop, { headers: 5 }), "headers: Expected an object with names"],
      [() => create(shop, { headers: { "a b": "c" } }), "headers.a b: Expected a name and a text"],
      [() => create(shop, { signal: {} }), "signal: Expected an AbortSignal"],
      [() => create(shop, { signal: new AbortController() }), "signal: Expected an AbortSignal"],
      [
        () => create(shop, { signal: { aborted: false, addEventListener: () => {} } }),
        "signal: Expected an AbortSignal"
      ],
      [() => follow(null), "options: Expected an object"],
      [() => follow({ org_id: "org-1" }), "org_id: "],
      [() => follow({ project_id: undefined }), "project_id: "],
      [() => follow({ project_id: ".." }), "project_id: Expected an id"],
      [() => follow({ project_id: "\ud800" }), "project_id: Expected an id"],
      [() => follow({ types: "a.b.v1" }), "types: Expected an array of text"],
      [() => follow({ types: new Array(1) }), "types: Expected an array of text"],
      [() => follow({ after: 5 }), "after: Expected text"],
      [() => follow({ heartbeat: Number.NaN }), "heartbeat: Expected a number"],
      [() => follow({ heartbeat: 0 }), "heartbeat: Expected a number"],
      [() => follow({ signal: {} }), "signal: Expected an AbortSignal"],
      [() => wait(), "operation: Expected an object"],
      [() => wait("op-1"), "operation: Expected an object"],
      [() => wait({ id: "op-1" }), "project_id: "],
      [() => wait({ id: "op-1", project_id: ".." }), "project_id: Expected an id"],
      [() => wait(one, null), "options: Expected an object"],
      [() => wait(one, 5_000), "options: Expected an object"],
      [() => wait(one, { timeout: Number.NaN }), "timeout: Expected a number"],
      [() => wait(one, { signal: {} }), "signal: Expected an AbortSignal"]
    ]
    const wrong: Array<string> = []
    for (const [call, says] of wrongs) {
      const end = await endOf(call)
      if (!end.startsWith(`invalid_input: ${says}`) || end.includes("s3cret")) wrong.push(`${says}: ${end}`)
    }
    assert.deepStrictEqual(wrong, [])
    assert.strictEqual(sent, 0)
  })
})

/** Arguments that the types exclude, as programs in JavaScript pass them (docs/design/library.md N38). */
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import { type ControlPlane, createControlPlane, isNarthexError } from "../src/index.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true, name: "Ada" }

/** A host's call with arguments of any type. */
// biome-ignore lint/suspicious/noExplicitAny: what TypeScript would refuse is what is tested.
type Untyped = any

interface Wrong {
  /** The call as a program would write it. */
  readonly call: string
  readonly make: (cp: Untyped, made: Made) => unknown
  readonly code: string
  /** How the sentence begins. */
  readonly says: string
}

interface Made {
  readonly org_id: string
  readonly person: { readonly id: string }
  readonly caller: Untyped
}

const input = (call: string, make: Wrong["make"], says: string): Wrong => ({ call, make, code: "invalid_input", says })

const wrongs: ReadonlyArray<Wrong> = [
  input("people.ensure()", (cp) => cp.people.ensure(), "identity: expected an object"),
  input("people.ensure(null)", (cp) => cp.people.ensure(null), "identity: expected an object"),
  input("people.ensure('ada')", (cp) => cp.people.ensure("ada"), "identity: expected an object"),
  input("people.ensure({})", (cp) => cp.people.ensure({}), "identity.subject: expected text"),
  input("people.ensure({ subject: 42 })", (cp) => cp.people.ensure({ subject: 42 }), "identity.subject: expected text"),
  input(
    "people.ensure({ emailVerified })",
    (cp) => cp.people.ensure({ ...ada, emailVerified: true }),
    "identity.emailVerified: there is no such member"
  ),
  input(
    "people.ensure({ email_verified: 'false' })",
    (cp) => cp.people.ensure({ ...ada, email_verified: "false" }),
    "identity.email_verified: expected true or false"
  ),
  input("people.ensure({ email: 1 })", (cp) => cp.people.ensure({ ...ada, email: 1 }), "identity.email: expected text"),
  input("sessions.start()", (cp) => cp.sessions.start(), "person: expected"),
  input("sessions.start(null)", (cp) => cp.sessions.start(null), "person: expected"),
  input("sessions.start({})", (cp) => cp.sessions.start({}), "person: expected"),
  input("sessions.start({ id: 1 })", (cp) => cp.sessions.start({ id: 1 }), "person: expected"),
  input(
    "sessions.start(person, 'Mozilla')",
    (cp, { person }) => cp.sessions.start(person, "Mozilla"),
    "options: expected an object"
  ),
  input(
    "sessions.start(person, { userAgent })",
    (cp, { person }) => cp.sessions.start(person, { userAgent: "x" }),
    "options.userAgent: there is no such member"
  ),
  input(
    "sessions.start(person, { address: 1 })",
    (cp, { person }) => cp.sessions.start(person, { address: 1 }),
    "options.address: expected text"
  ),
  input("sessions.end()", (cp) => cp.sessions.end(), "session: expected a session token"),
  input("sessions.exchange()", (cp) => cp.sessions.exchange(), "token: expected an object"),
  input("sessions.exchange('ey…')", (cp) => cp.sessions.exchange("ey"), "token: expected an object"),
  input("sessions.exchange({})", (cp) => cp.sessions.exchange({}), "token.id_token: expected text"),
  input(
    "sessions.exchange({ idToken })",
    (cp) => cp.sessions.exchange({ idToken: "x" }),
    "token.idToken: there is no such member"
  ),
  { call: "authenticate()", make: (cp) => cp.authenticate(), code: "unauthenticated", says: "" },
  { call: "authenticate(null)", make: (cp) => cp.authenticate(null), code: "unauthenticated", says: "" },
  input("authenticate(42)", (cp) => cp.authenticate(42), "credential: expected text"),
  input("authenticate([…])", (cp) => cp.authenticate(["nsk_x"]), "credential: expected text"),
  input("authenticate('nsk_x', '::1')", (cp) => cp.authenticate("nsk_x", "::1"), "options: expected an object"),
  input(
    "authenticate('nsk_x', { ip })",
    (cp) => cp.authenticate("nsk_x", { ip: "::1" }),
    "options.ip: there is no such member"
  ),
  input("require()", (_, { caller }) => caller.require(), "permission: expected"),
  input("require('nope', {})", (_, { caller }) => caller.require("nope", {}), "permission: expected"),
  input("require('toString', {})", (_, { caller }) => caller.require("toString", {}), "permission: expected"),
  input("require(42)", (_, { caller }) => caller.require(42), "permission: expected"),
  ...[null, "prj-1", 42, true, [], new Map(), new Date()].map(
    (target): Wrong => ({
      call: `require('read', ${String(target) === "" ? "[]" : String(target)})`,
      make: (_, { caller }) => caller.require("read", target),
      code: "target_invalid",
      says: "target: expected an object"
    })
  ),
  input("ipAllowlist.permits()", (cp) => cp.ipAllowlist.permits(), "project_id: expected text"),
  input("ipAllowlist.permits(42, '::1')", (cp) => cp.ipAllowlist.permits(42, "::1"), "project_id: expected text"),
  input("ipAllowlist.permits('prj-1')", (cp) => cp.ipAllowlist.permits("prj-1"), "address: expected text"),
  input("operations.waitFor()", (cp) => cp.operations.waitFor(), "operation: expected"),
  input("operations.waitFor({})", (cp) => cp.operations.waitFor({}), "operation: expected"),
  input("operations.waitFor('op', 5000)", (cp) => cp.operations.waitFor("op", 5_000), "options: expected an object"),
  ...[Number.NaN, -1, "5 s", Number.POSITIVE_INFINITY].map((timeout) =>
    input(
      `operations.waitFor('op', { timeout: ${timeout} })`,
      (cp) => cp.operations.waitFor("op", { timeout }),
      "options.timeout: expected"
    )
  ),
  input(
    "operations.waitFor('op', { signal: controller })",
    (cp) => cp.operations.waitFor("op", { signal: new AbortController() }),
    "options.signal: expected an AbortSignal"
  ),
  input("events.publish()", (cp) => cp.events.publish(), "event: expected an object"),
  input("events.publish({ type })", (cp) => cp.events.publish({ type: "a.b.v1" }), "event.org_id: expected text"),
  input(
    "events.publish({ org_id })",
    (cp, { org_id }) => cp.events.publish({ org_id, data: {} }),
    "event.type: expected text"
  ),
  input(
    "events.publish({ projectId })",
    (cp, { org_id }) => cp.events.publish({ org_id, type: "a.b.v1", projectId: "prj-1", data: {} }),
    "event.projectId: there is no such member"
  ),
  input("events.subscribe()", (cp) => first(cp.events.subscribe()), "subscription: expected an object"),
  input("events.subscribe({})", (cp) => first(cp.events.subscribe({})), "subscription.org_id: expected text"),
  input(
    "events.subscribe({ orgId })",
    (cp, { org_id }) => first(cp.events.subscribe({ orgId: org_id })),
    "subscription.orgId: there is no such member"
  ),
  input(
    "events.subscribe({ project_id: undefined })",
    (cp, { org_id }) => first(cp.events.subscribe({ org_id, project_id: undefined })),
    "subscription.project_id: expected text"
  ),
  input(
    "events.subscribe({ types: 'a.v1' })",
    (cp, { org_id }) => first(cp.events.subscribe({ org_id, types: "a.v1" })),
    "subscription.types: expected an array of text"
  ),
  input(
    "events.subscribe({ after: 7 })",
    (cp, { org_id }) => first(cp.events.subscribe({ org_id, after: 7 })),
    "subscription.after: expected text"
  ),
  input(
    "events.subscribe({ signal: {} })",
    (cp, { org_id }) => first(cp.events.subscribe({ org_id, signal: {} })),
    "subscription.signal: expected an AbortSignal"
  ),
  {
    call: "events.subscribe({ org_id: unknown })",
    make: (cp) => first(cp.events.subscribe({ org_id: "org-unknown" })),
    code: "not_found",
    says: ""
  },
  {
    call: "events.subscribe({ project_id: unknown })",
    make: (cp, { org_id }) => first(cp.events.subscribe({ org_id, project_id: "prj-unknown" })),
    code: "not_found",
    says: ""
  },
  input("transaction()", (cp) => cp.transaction(), "tx: expected"),
  input("transaction({})", (cp) => cp.transaction({}), "work: expected a function"),
  input("fetch()", (cp) => cp.fetch(), "request: expected a Request"),
  input("fetch('http://…')", (cp) => cp.fetch("http://localhost/readyz"), "request: expected a Request"),
  input("fetch(context)", (cp) => cp.fetch({ req: {} }), "request: expected a Request"),
  input(
    "fetch({ headers: { get } })",
    (cp) => cp.fetch({ url: "http://localhost/v1/regions", method: "GET", headers: { get: broken } }),
    "request: expected a Request"
  ),
  input(
    "fetch({ headers that break })",
    (cp) =>
      cp.fetch({
        url: "http://localhost/v1/regions",
        method: "GET",
        headers: { get: broken, [Symbol.iterator]: broken }
      }),
    "request: reading it failed"
  ),
  input(
    "fetch(Object.create(Request.prototype))",
    (cp) => cp.fetch(Object.create(Request.prototype)),
    "request: reading it"
  ),
  input(
    "people.ensure({ get subject() })",
    (cp) => cp.people.ensure(breaking("subject")),
    "identity: reading it failed"
  ),
  input("sessions.start({ get id() })", (cp) => cp.sessions.start(breaking("id")), "person: reading it failed"),
  target("require('read', { get project_id() })", (_, { caller }) => caller.require("read", breaking("project_id"))),
  target("require('read', proxy)", (_, { caller }) => caller.require("read", new Proxy({}, { ownKeys: broken }))),
  input(
    "events.subscribe({ types: new Array(2) })",
    (cp, { org_id }) => first(cp.events.subscribe({ org_id, types: new Array(2) })),
    "subscription.types: expected an array of text"
  ),
  ...[
    { aborted: false, addEventListener: () => {} },
    { aborted: "no", addEventListener: () => {}, removeEventListener: () => {} },
    { aborted: false, addEventListener: 1, removeEventListener: 1 }
  ].flatMap((signal) => [
    input(
      `events.subscribe({ signal: ${Object.keys(signal)} })`,
      (cp, { org_id }) => first(cp.events.subscribe({ org_id, signal })),
      "subscription.signal: expected an AbortSignal"
    ),
    input(
      `operations.waitFor('op', { signal: ${Object.keys(signal)} })`,
      (cp) => cp.operations.waitFor("op", { signal }),
      "options.signal: expected an AbortSignal"
    )
  ]),
  input(
    "events.subscribe({ signal: { get aborted() } })",
    (cp, { org_id }) =>
      first(
        cp.events.subscribe({
          org_id,
          signal: Object.assign(breaking("aborted"), { addEventListener: () => {}, removeEventListener: () => {} })
        })
      ),
    "subscription: reading it failed"
  ),
  input(
    "events.subscribe({ signal that takes no listener })",
    (cp, { org_id }) =>
      first(
        cp.events.subscribe({
          org_id,
          signal: { aborted: false, addEventListener: broken, removeEventListener: () => {} }
        })
      ),
    "subscription.signal: it took no listener"
  )
]

function broken(): never {
  throw new Error("s3cret")
}

/** An object with a member that throws when it is read. */
function breaking(member: string): object {
  return Object.defineProperty({}, member, { enumerable: true, get: broken })
}

function target(call: string, make: Wrong["make"]): Wrong {
  return { call, make, code: "target_invalid", says: "target: reading it failed" }
}

const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

const withControlPlane = async (work: (cp: ControlPlane, made: Made) => Promise<void>) => {
  await using cp = await createControlPlane({ log: "off" })
  const person = await cp.people.ensure(ada)
  const session = await cp.sessions.start(person)
  const caller = await cp.authenticate(session.access_token)
  await work(cp, { org_id: person.personal_org_id, person, caller })
}

describe("arguments that a type would have refused", () => {
  it("every host call rejects with a stable code and a sentence that names the argument", () =>
    withControlPlane(async (cp, made) => {
      const said: Array<string> = []
      for (const { call, code, make, says } of wrongs) {
        // A call that throws instead of rejecting would not be noticed by `.catch`.
        let promise: unknown
        try {
          promise = make(cp, made)
        } catch (error) {
          said.push(`${call} throws ${String(error)}`)
          continue
        }
        const failure: unknown = await within(call, Promise.resolve(promise)).then(
          (value) => `resolves with ${JSON.stringify(value)}`,
          (error: unknown) => error
        )
        if (!isNarthexError(failure)) said.push(`${call}: ${String(failure)}`)
        else if (failure.code !== code) said.push(`${call}: ${failure.code}, not ${code}`)
        else if (!failure.message.startsWith(says)) said.push(`${call}: ${failure.message}`)
      }
      assert.deepStrictEqual(said, [])
    }))

  it("a sentence about an argument says what to do and not what was given", () =>
    withControlPlane(async (cp) => {
      const untyped: Untyped = cp
      const failure: unknown = await untyped.authenticate(["nsk_secret"]).catch((error: unknown) => error)
      assert.notInclude(String(failure), "nsk_secret")
      assert.include(String(failure), "Correct")
    }))
})

/** The host's own calls. Holds docs/design/library.md N24, N25, N26, N27, N29 and N32. */
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"
import {
  type ControlPlane,
  type ControlPlaneOptions,
  createControlPlane,
  type HostItem,
  isNarthexError
} from "../src/index.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true, name: "Ada" }

const withControlPlane = async (work: (cp: ControlPlane) => Promise<void>, options: ControlPlaneOptions = {}) => {
  await using cp = await createControlPlane({ log: "off", ...options })
  await work(cp)
}

/** A person with a session, and the client that acts for it. */
const signedIn = async (cp: ControlPlane, identity = ada) => {
  const person = await cp.people.ensure(identity)
  const session = await cp.sessions.start(person)
  return { person, session, client: cp.client(session) }
}

/** The code with which a call rejects. */
const codeOf = async (call: Promise<unknown>) => {
  const failure: unknown = await call.then(
    () => undefined,
    (error: unknown) => error
  )
  return isNarthexError(failure) ? failure.code : assert.fail(`It did not fail with a code: ${String(failure)}`)
}

/** The items of a subscription as they come. */
const reading = (items: AsyncIterable<HostItem>) => {
  const iterator = items[Symbol.asyncIterator]()
  return async () => {
    const { done, value } = await within("an item", iterator.next())
    return done ? "the end" : value
  }
}

describe("people", () => {
  it("the first call makes the account, later ones find it by the subject and bring it up to date", () =>
    withControlPlane(async (cp) => {
      const first = await cp.people.ensure(ada)
      assert.deepInclude(first, { email: "ada@example.com", name: "Ada", account_state: "active" })
      const again = await cp.people.ensure({ ...ada, email: "ada@example.org", name: "Ada L." })
      assert.strictEqual(again.id, first.id)
      assert.deepInclude(again, { email: "ada@example.org", name: "Ada L.", personal_org_id: first.personal_org_id })
      const other = await cp.people.ensure({ subject: "user_43" })
      assert.deepInclude(other, { email: null, name: null })
      assert.notStrictEqual(other.id, first.id)
    }))

  it("an identity that is none is refused with the member that is wrong", () =>
    withControlPlane(async ({ people }) => {
      for (const [member, wrong] of [
        ["subject", { subject: " " }],
        ["subject", { subject: "x".repeat(256) }],
        ["email", { email: "nobody" }],
        ["name", { name: "\u0000" }]
      ] as const) {
        const failure: unknown = await people.ensure({ ...ada, ...wrong }).catch((error: unknown) => error)
        assert.deepInclude(failure, { code: "invalid_request", status: 422 })
        assert.include(String(failure), `${member}: `)
      }
    }))

  it("closed sign-up leaves an account pending, and a list of addresses refuses the others", () =>
    withControlPlane(
      async (cp) => {
        assert.strictEqual((await cp.people.ensure(ada)).account_state, "pending")
        assert.strictEqual(
          await codeOf(cp.people.ensure({ ...ada, subject: "other", email: "eve@example.net" })),
          "email_not_allowed"
        )
        const unverified = { ...ada, subject: "third", email_verified: false }
        assert.strictEqual(await codeOf(cp.people.ensure(unverified)), "email_not_allowed")
      },
      { signup: { open_signup: false, sign_in_allowlist: ["@example.com"] } }
    ))
})

describe("sessions", () => {
  it("a session that the host starts is one of the person's sessions, and ends at a sign-out", () =>
    withControlPlane(async (cp) => {
      const { client, person } = await signedIn(cp)
      const whoami = await client.auth.whoami()
      assert.deepInclude(whoami.user, { id: person.id, email: person.email })
      assert.strictEqual(whoami.organization.id, person.personal_org_id)
      const { sessions } = await client.auth.sessions()
      assert.deepStrictEqual(
        sessions.map(({ provider }) => provider),
        ["host"]
      )
      await client.auth.logout()
      assert.strictEqual(await codeOf(client.auth.whoami()), "sign_in_required")
    }))

  it("a session is not started for a person that does not exist", () =>
    withControlPlane(async ({ sessions }) => {
      for (const id of ["nobody", "", "a\u0000b"]) assert.strictEqual(await codeOf(sessions.start(id)), "not_found")
    }))

  it("an id token of no provider is refused", () =>
    withControlPlane(async ({ sessions }) => {
      assert.strictEqual(await codeOf(sessions.exchange({ id_token: "none" })), "invalid_token")
    }))
})

describe("callers", () => {
  it("a key authenticates as its person, alone and as a header, until it is revoked", () =>
    withControlPlane(async (cp) => {
      const { client, person } = await signedIn(cp)
      const { api_key, secret } = await client.apiKeys.create({ name: "ci", capability: "read" })
      const caller = await cp.authenticate(secret)
      assert.deepInclude(caller, { kind: "api_key", org_id: person.personal_org_id, capability: "read" })
      assert.strictEqual(caller.api_key?.id, api_key.id)
      // The API says the same about the caller.
      const { again: _again, org_id: _org, require: _require, ...said } = caller
      assert.deepStrictEqual<unknown>(said, await cp.client(secret).auth.whoami())
      assert.strictEqual((await cp.authenticate(`Bearer ${secret}`)).api_key?.id, api_key.id)
      await client.apiKeys.revoke({ api_key_id: api_key.id })
      assert.strictEqual(await codeOf(cp.authenticate(secret)), "invalid_token")
    }))

  it("a credential that is none is refused with the API's code", () =>
    withControlPlane(async ({ authenticate }) => {
      for (const wrong of ["", "Bearer ", "nsk_x", "a b", "Basic YTpi"])
        assert.strictEqual(await codeOf(authenticate(wrong)), "invalid_token", wrong)
    }))

  it("a target that names no object is refused, so that it does not ask for the whole organization", () =>
    withControlPlane(async (cp) => {
      const { session } = await signedIn(cp)
      const owner = await cp.authenticate(session.access_token)
      // JavaScript may pass both targets; the types refuse them only in some configurations.
      const misspelt: object = { projectId: "prj-01" }
      const missing: object = { project_id: undefined }
      for (const target of [misspelt, missing])
        assert.strictEqual(await codeOf(owner.require("read", target)), "target_invalid")
    }))

  it("a caller is refused outside of its scope, its capability and its organization", () =>
    withControlPlane(async (cp) => {
      const { client } = await signedIn(cp)
      const [shop, other] = [
        await client.projects.create({ name: "shop" }),
        await client.projects.create({ name: "other" })
      ]
      const project_id = shop.project.id
      const key = async (capability: "read" | "agent") => {
        const { secret } = await client.apiKeys.create({ name: capability, capability, scope: `project:${project_id}` })
        return cp.authenticate(secret)
      }
      const reader = await key("read")
      await reader.require("read", { project_id })
      await reader.require("read", { project_id, branch_id: shop.branch.id })
      assert.strictEqual(await codeOf(reader.require("read", { project_id: other.project.id })), "scope_insufficient")
      assert.strictEqual(await codeOf(reader.require("read")), "scope_insufficient", "the organization is more")
      assert.strictEqual(await codeOf(reader.require("change_projects", { project_id })), "capability_insufficient")
      assert.strictEqual(await codeOf(reader.require("manage_keys")), "session_required")
      const branch = { project_id, branch_id: other.branch.id }
      assert.strictEqual(await codeOf(reader.require("read", branch)), "not_found")

      const agent = await key("agent")
      await agent.require("read", { project_id })
      assert.strictEqual(await codeOf(agent.require("change_projects", { project_id })), "capability_insufficient")

      const eve = await signedIn(cp, { ...ada, subject: "eve", email: "eve@example.com" })
      const stranger = await cp.authenticate(eve.session.access_token)
      for (const id of [project_id, "prj_unknown"])
        assert.strictEqual(await codeOf(stranger.require("read", { project_id: id })), "not_found")
    }))
})

describe("allowlists", () => {
  it("an address is admitted by the rules in force, and unreadable ones never", () =>
    withControlPlane(async (cp) => {
      const { client } = await signedIn(cp)
      const { project } = await client.projects.create({ name: "shop" })
      assert.isTrue(await cp.ipAllowlist.permits(project.id, "203.0.113.9"))
      assert.isFalse(await cp.ipAllowlist.permits(project.id, "nowhere"))
      await client.ipAllow.add({ project_id: project.id, cidr: "203.0.113.0/24" })
      assert.isTrue(await cp.ipAllowlist.permits(project.id, "203.0.113.9"))
      assert.isFalse(await cp.ipAllowlist.permits(project.id, "198.51.100.1"))
      for (const id of ["prj_unknown", ""])
        assert.strictEqual(await codeOf(cp.ipAllowlist.permits(id, "203.0.113.9")), "not_found")
    }))
})

describe("events and operations", () => {
  it("a subscription has every event from its call on, and resumes after an id", () =>
    withControlPlane(async (cp) => {
      const { client, person } = await signedIn(cp)
      const items = cp.events.subscribe({ org_id: person.personal_org_id, types: ["operation.updated.v1"] })
      const { operations } = await client.projects.create({ name: "shop" })
      const next = reading(items)
      const first = await next()
      if (first === "the end" || first.kind !== "event") return assert.fail("It is not an event.")
      assert.deepInclude(first.event.data, { status: "scheduling", operation_id: operations[0]?.id })
      const resumed = reading(cp.events.subscribe({ org_id: person.personal_org_id, after: first.event.id }))
      assert.deepStrictEqual(await resumed(), await next())
    }))

  it("a subscription shows events of its organization alone", () =>
    withControlPlane(async (cp) => {
      const [one, two] = [await signedIn(cp), await signedIn(cp, { ...ada, subject: "eve", email: "eve@example.com" })]
      const next = reading(cp.events.subscribe({ org_id: one.person.personal_org_id }))
      await two.client.projects.create({ name: "theirs" })
      const { project } = await one.client.projects.create({ name: "own" })
      const item = await next()
      if (item === "the end" || item.kind !== "event") return assert.fail("It is not an event.")
      assert.strictEqual(item.event.project_id, project.id)
    }))

  it("a subscription delivers nothing that was read ahead once its signal has ended it", () =>
    withControlPlane(async (cp) => {
      const { client, person } = await signedIn(cp)
      const aborts = new AbortController()
      const events = cp.events.subscribe({ org_id: person.personal_org_id, signal: aborts.signal })
      for (const name of ["one", "two", "three"]) await client.projects.create({ name })
      let delivered = 0
      for await (const _ of events) {
        delivered++
        aborts.abort()
      }
      assert.strictEqual(delivered, 1)
    }))

  it("a subscription ends with its signal, with the loop, and with the control plane", async () => {
    const cp = await createControlPlane()
    const org_id = (await cp.people.ensure(ada)).personal_org_id
    const aborts = new AbortController()
    const aborted = reading(cp.events.subscribe({ org_id, signal: aborts.signal }))
    const [waiting, closing] = [aborted(), reading(cp.events.subscribe({ org_id }))()]
    aborts.abort()
    assert.strictEqual(await waiting, "the end")
    await cp.close()
    assert.strictEqual(await closing, "the end")
    assert.strictEqual(await reading(cp.events.subscribe({ org_id, signal: aborts.signal }))(), "the end")
  })

  it("a subscription to a project or an organization that is deleted ends with not_found", () =>
    withControlPlane(async (cp) => {
      const { client } = await signedIn(cp)
      const { organization } = await client.orgs.create({ name: "team" })
      await client.auth.switchOrg({ org_id: organization.id })
      const { operations, project } = await client.projects.create({ name: "shop" })
      for (const operation of operations) await cp.operations.waitFor(operation)
      const org_id = organization.id
      const loops = [cp.events.subscribe({ org_id, project_id: project.id }), cp.events.subscribe({ org_id })]
      const ends = loops.map(async (items) => {
        for await (const _ of items) {
        }
      })
      const codes = ends.map(codeOf)
      for (const operation of (await client.projects.delete({ project_id: project.id })).operations)
        await cp.operations.waitFor(operation)
      assert.strictEqual(await within("the end of the project's", codes[0] ?? Promise.resolve("none")), "not_found")
      await client.orgs.delete({ org_id })
      assert.strictEqual(
        await within("the end of the organization's", codes[1] ?? Promise.resolve("none")),
        "not_found"
      )
    }))

  it("an operation is waited for until it is final, and a wait has a bound", () =>
    withControlPlane(async (cp) => {
      const { client } = await signedIn(cp)
      const { operations } = await client.projects.create({ name: "shop" })
      for (const operation of operations)
        assert.strictEqual((await cp.operations.waitFor(operation)).status, "finished")
      assert.strictEqual(await codeOf(cp.operations.waitFor("op_unknown")), "not_found")
    }))

  it("a wait for an operation that nothing performs ends after its time, or with its signal", () =>
    withControlPlane(
      async (cp) => {
        const { client } = await signedIn(cp)
        const [operation] = (await client.projects.create({ name: "shop" })).operations
        if (operation === undefined) return assert.fail("There is no operation.")
        assert.strictEqual(await codeOf(cp.operations.waitFor(operation, { timeout: 1 })), "timed_out")
        const signal = AbortSignal.abort(new Error("enough"))
        assert.strictEqual(await codeOf(cp.operations.waitFor(operation, { signal })), "aborted")
      },
      { runner: false }
    ))

  it("after the end every call of the host is refused with the code closed", async () => {
    const cp = await createControlPlane()
    await cp.close()
    assert.strictEqual(await codeOf(cp.people.ensure(ada)), "closed")
    assert.strictEqual(await codeOf(cp.authenticate("nsk_x")), "closed")
  })
})

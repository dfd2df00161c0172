/** The entries of acts (docs/design/audit.md U1): what they hold, where they belong, and what leaves none. */
import { assert, layer } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { apiOver, consoleToken } from "../support/apiOver.ts"
import { arrive, branch, founder, joined, key, project } from "../support/story.ts"
import { type Entry, entries } from "./entriesOf.ts"

const actionsOf = (all: ReadonlyArray<Entry>) => all.map(({ action }) => action)

layer(apiOver(layerMemoryPorts), { excludeTestServices: true })("entries of the audit log", (it) => {
  it.effect("an entry names the person, the object, the address, the agent and the request", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const made = yield* who.call("POST", "/v1/projects", {
        body: { name: "shop" },
        headers: { "user-agent": "curl/8", "x-request-id": "r-17" }
      })
      const [entry] = yield* entries(who)
      const { branch, endpoint, project } = made.body
      assert.deepInclude(entry, {
        org_id: who.org_id,
        action: "project.created",
        outcome: "done",
        actor: { type: "user", id: who.user_id, name: who.email, user: { id: who.user_id, email: who.email } },
        context: { location: "127.0.0.1", user_agent: "curl/8", request_id: "r-17" },
        metadata: {},
        version: 1
      })
      assert.deepStrictEqual(entry?.targets, [
        { type: "project", id: project.id, name: "shop" },
        { type: "branch", id: branch.id, name: "main" },
        { type: "endpoint", id: endpoint.id, name: null }
      ])
    })
  )

  it.effect("the actor of a key is the key, with the person as whom it acts", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const ci = yield* key(who, { name: "ci" })
      yield* ci.call("POST", "/v1/projects", { body: { name: "shop" } })
      const [entry] = yield* entries(who, `?actor_id=${ci.id}`)
      assert.deepStrictEqual(
        [entry?.action, entry?.actor],
        ["project.created", { type: "api_key", id: ci.id, name: "ci", user: { id: who.user_id, email: who.email } }]
      )
    })
  )

  it.effect("an entry has the object of the act first, then what it is part of, by the names of that time", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const place = yield* project(who, "shop")
      const { branch: child } = yield* branch(who, place, { name: "next" })
      const path = `${place.path}/branches/${child.id}`
      yield* who.call("PATCH", path, { body: { name: "later", protected: true } })
      yield* who.call("POST", `${place.path}/ip-allow`, { body: { cidr: "10.0.0.0/8", label: "office" } })
      yield* who.call("DELETE", `${place.path}/ip-allow/10.0.0.0/8`)
      const [removed, added, changed, made] = yield* entries(who)
      const home = { type: "project", id: place.id, name: "shop" }
      assert.deepStrictEqual(made?.targets, [{ type: "branch", id: child.id, name: "next" }, home])
      assert.deepStrictEqual(changed?.targets, [{ type: "branch", id: child.id, name: "later" }, home])
      assert.deepStrictEqual(changed?.metadata, { protected: "true" })
      assert.deepStrictEqual(added?.targets, [{ type: "ip_rule", id: "10.0.0.0/8", name: "office" }, home])
      assert.deepStrictEqual(removed?.targets, [{ type: "ip_rule", id: "10.0.0.0/8", name: null }, home])
    })
  )

  it.effect("a refused or invalid change leaves no entry of a change, and nothing of its body", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const before = yield* entries(who)
      yield* who.call("POST", "/v1/projects", { body: { name: "" } })
      yield* who.call("POST", "/v1/projects", { raw: "{" })
      const text = { raw: "x", headers: { "content-type": "text/plain" } }
      assert.strictEqual((yield* who.call("POST", "/v1/projects", text)).status, 415)
      assert.strictEqual((yield* who.call("POST", "/v1/projects", { raw: "x".repeat(70_000) })).status, 413)
      yield* who.call("DELETE", `/v1/projects/prj-unknown`)
      yield* who.call("DELETE", `/v1/orgs/${who.org_id}`)
      assert.deepStrictEqual(yield* entries(who), before)
    })
  )

  it.effect("a repetition of an idempotency key leaves no second entry", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const sent = { body: { name: "shop" }, headers: { "idempotency-key": "once" } }
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* who.call("POST", "/v1/projects", sent)).status, 201)
      assert.lengthOf(yield* entries(who, "?action=project.created"), 1)
    })
  )

  it.effect("no entry has a secret of its answer", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const place = yield* project(who)
      const made = yield* who.call("POST", "/v1/api-keys", { body: { name: "ci", capability: "read" } })
      const rotated = yield* who.call("POST", `/v1/api-keys/${made.body.api_key.id}/rotate`)
      const path = `${place.path}/branches/${place.main}/credentials`
      const minted = yield* who.call("POST", path, { body: { access: "read_only" } })
      const log = yield* who.call("GET", `/v1/orgs/${who.org_id}/audit`)
      for (const { body } of [made, rotated, minted])
        for (const secret of [body.secret, body.password, body.connection_uri])
          if (secret !== undefined) assert.notInclude(log.text, secret)
      assert.deepStrictEqual(actionsOf(log.body.entries).slice(0, 3), [
        "credential.created",
        "api_key.rotated",
        "api_key.created"
      ])
      const [credential, , created]: ReadonlyArray<Entry> = log.body.entries
      assert.deepStrictEqual(credential?.metadata, { access: "read_only" })
      assert.deepStrictEqual(created?.metadata, { capability: "read" })
    })
  )

  it.effect("a sign-in, a switch and a sign-out are in the log of the organization that they concern", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const person = yield* joined(owner, "member")
      yield* person.call("POST", "/v1/auth/logout")
      // A first sign-in and what it accepts happen in the same millisecond.
      assert.sameMembers(actionsOf(yield* entries(owner, `?actor_id=${person.user_id}`)), [
        "session.ended",
        "session.created",
        "invitation.accepted"
      ])
      const own = yield* entries(owner, `?actor_id=${owner.user_id}`)
      assert.deepStrictEqual(actionsOf(own), ["invitation.created", "session.switched", "organization.created"])
    })
  )

  it.effect("a refresh and a report of no key leave no entry; a report of a key does", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const leaked = yield* key(who, { name: "leaked" })
      const before = yield* entries(who)
      yield* who.call("POST", "/v1/auth/refresh")
      yield* who.call("POST", "/v1/credentials/report", { body: { secret: "nothing" } })
      assert.deepStrictEqual(yield* entries(who), before)
      yield* who.call("POST", "/v1/credentials/report", { body: { secret: leaked.token } })
      const [reported] = yield* entries(who)
      assert.deepStrictEqual(
        [reported?.action, reported?.actor.type, reported?.targets],
        ["api_key.reported", "anonymous", [{ type: "api_key", id: leaked.id, name: "leaked" }]]
      )
    })
  )

  it.effect("a removed member and a declined invitation are named by their addresses", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const member = yield* joined(owner, "admin")
      yield* owner.call("PATCH", `/v1/orgs/${owner.org_id}/members/${member.user_id}`, { body: { role: "viewer" } })
      yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}/members/${member.user_id}`)
      const guest = yield* arrive()
      const invitations = `/v1/orgs/${owner.org_id}/invitations`
      const { body } = yield* owner.call("POST", invitations, { body: { email: guest.email, role: "viewer" } })
      yield* guest.call("POST", `/v1/invitations/${body.invitation.id}/decline`)
      const [declined, invited, removed, changed] = yield* entries(owner)
      const invitation = { type: "invitation", id: body.invitation.id, name: guest.email }
      const person = { type: "member", id: member.user_id, name: member.email }
      assert.deepStrictEqual([declined?.action, declined?.targets], ["invitation.declined", [invitation]])
      assert.strictEqual(declined?.actor.id, guest.user_id)
      assert.deepStrictEqual([invited?.targets, invited?.metadata], [[invitation], { role: "viewer" }])
      assert.deepStrictEqual([removed?.action, removed?.targets], ["member.removed", [person]])
      assert.deepStrictEqual([changed?.targets, changed?.metadata], [[person], { role: "viewer" }])
    })
  )

  it.effect("the end of an organization is in the log of its last owner's personal one", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      yield* who.call("DELETE", `/v1/orgs/${who.org_id}`)
      const again = yield* arrive(who.email)
      const [, ended] = yield* entries(again)
      assert.deepStrictEqual(
        [ended?.action, ended?.targets],
        ["organization.deleted", [{ type: "organization", id: who.org_id, name: "Team" }]]
      )
    })
  )

  it.effect("the console reports its browser's address and agent", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      yield* who.call("POST", "/v1/projects", {
        body: { name: "shop" },
        headers: {
          "narthex-console": consoleToken,
          "narthex-client-address": "2001:db8::7",
          "narthex-client-agent": "Firefox"
        }
      })
      const [entry] = yield* entries(who)
      assert.deepInclude(entry?.context, { location: "2001:db8::7", user_agent: "Firefox" })
    })
  )
})

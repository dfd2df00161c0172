/** Which endpoints carry which rules. The server applies a rule wherever its annotation stands, and nowhere else. */
import { assert, describe, it } from "@effect/vitest"
import {
  Api,
  Authentication,
  endsSomething,
  limitOf,
  NotReplayed,
  OwnToken,
  PolicyCheck,
  ProxyAuthentication,
  policyOf,
  rateLimits,
  StreamsEvents,
  TargetSelf
} from "@narthex/api"
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { endpointsOf } from "./endpointsOf.ts"

const listed = endpointsOf(Api).map(({ endpoint, group }) => ({ endpoint, name: `${group}.${endpoint.identifier}` }))

const named = (has: (endpoint: HttpApiEndpoint.Top) => boolean) =>
  listed.filter(({ endpoint }) => has(endpoint)).map(({ name }) => name)

describe("annotations", () => {
  it("every endpoint has one policy and the middleware for it", () => {
    for (const { endpoint, name } of listed) {
      const policy = policyOf(endpoint)
      assert.isDefined(policy, name)
      const wanted = {
        Anonymous: [],
        OwnToken: [OwnToken],
        Proxy: [ProxyAuthentication],
        Credential: [PolicyCheck, Authentication]
      }[policy?._tag ?? "Anonymous"].map(({ key: id }) => id)
      const guards = [PolicyCheck, Authentication, OwnToken, ProxyAuthentication].map(({ key: id }) => id)
      const has = Array.from(endpoint.middlewares, ({ key: id }) => id).filter((id) => guards.includes(id))
      assert.deepStrictEqual(has, wanted, name)
    }
  })

  it("every call of people and keys that is not a GET has a limit, but signing out", () => {
    const without = listed.filter(({ endpoint }) => endpoint.method !== "GET" && limitOf(endpoint) === undefined)
    assert.deepStrictEqual(
      without.map(({ name }) => name).filter((name) => !name.startsWith("proxy.")),
      ["auth.logout"]
    )
  })

  it("no GET counts against a limit", () => {
    assert.deepStrictEqual(
      listed.filter(({ endpoint }) => endpoint.method === "GET" && limitOf(endpoint) !== undefined),
      []
    )
  })

  it("a call that signs in, creates something, or starts work on computes has a narrower limit than other changes", () => {
    const limits = listed.flatMap(({ endpoint, name }) => {
      const limit = limitOf(endpoint)
      return limit === undefined || limit === "changes" ? [] : [[name, limit]]
    })
    assert.deepStrictEqual(Object.fromEntries(limits), {
      "auth.exchange": "exchange",
      "auth.refresh": "refresh",
      "apiKeys.create": "key_creation",
      "apiKeys.createBare": "key_creation",
      "apiKeys.rotate": "key_creation",
      "credentials.report": "reports",
      "orgs.create": "organization_creation",
      "invitations.invite": "invitation_creation",
      "invitations.resend": "invitation_creation",
      "ownInvitations.accept": "invitation_creation",
      "ipAllow.add": "creation",
      "operations.cancel": "creation",
      "branches.setDefault": "creation",
      "projects.create": "creation",
      "branches.create": "creation",
      "branches.reset": "creation",
      "branches.mint": "creation",
      "sandboxes.create": "creation",
      "endpoints.create": "creation",
      "endpoints.start": "creation",
      "endpoints.suspend": "creation",
      "webhooks.create": "creation",
      "webhooks.rotateSecret": "creation",
      "webhooks.test": "creation",
      "webhooks.replay": "creation",
      "cli.authorize": "key_creation",
      "cli.exchange": "cli_exchange"
    })
  })

  it("every DELETE but the reset of the allowlist ends something, and so do five other calls", () => {
    const unlike = listed.filter(({ endpoint }) => endsSomething(endpoint) !== (endpoint.method === "DELETE"))
    assert.sameMembers(
      unlike.map(({ name }) => name),
      [
        "ipAllow.reset",
        "endpoints.change",
        "endpoints.suspend",
        "operations.cancel",
        "orgs.changeMember",
        "ownInvitations.decline"
      ]
    )
  })

  it("a limit counts by what its endpoint knows of the caller", () => {
    const countsBy = { Anonymous: ["address"], OwnToken: ["session"], Credential: ["user", "caller"], Proxy: [] }
    for (const { endpoint, name } of listed) {
      const limit = limitOf(endpoint)
      if (limit !== undefined) assert.include(countsBy[policyOf(endpoint)?._tag ?? "Proxy"], rateLimits[limit], name)
    }
  })

  it("the endpoints that ignore Idempotency-Key are those that issue or end sessions and codes", () => {
    assert.sameMembers(
      named(({ annotations }) => Context.get(annotations, NotReplayed)),
      [
        "auth.switchOrg",
        "auth.endSession",
        "auth.refresh",
        "auth.logout",
        "auth.exchange",
        "cli.authorize",
        "cli.exchange"
      ]
    )
  })

  it("DELETE /v1/api-keys/self is the only endpoint whose target is the credential itself", () => {
    assert.deepStrictEqual(
      named(({ annotations }) => Context.get(annotations, TargetSelf)),
      ["apiKeys.revokeSelf"]
    )
  })

  it("every endpoint that answers an event stream says so", () => {
    assert.sameMembers(
      named(({ annotations }) => Context.get(annotations, StreamsEvents)),
      ["events.stream", "events.projectStream", "proxy.changes"]
    )
  })
})

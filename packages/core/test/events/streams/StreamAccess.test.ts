import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { ApiKeyId, BranchId, OrgId, ProjectId, SessionId, UserId } from "../../../src/Ids.ts"
import { allowlistChanged, allowlistChangeOf } from "../../../src/records/allowlist/AllowlistChange.ts"
import {
  apiKeyRevoked,
  branchRevoked,
  membershipRevoked,
  organizationRevoked,
  projectRevoked,
  revocationOf,
  sessionRevoked,
  userRevoked
} from "../../../src/records/events/InternalEvents.ts"
import { revokes } from "../../../src/services/events/streams/StreamAccess.ts"
import { ada, logged, org, otherProject, principal, project } from "../fixtures.ts"

const elsewhere = OrgId.make("elsewhere")
const session = SessionId.make("session-1")
const key = ApiKeyId.make("key-1")
const branch = BranchId.make("br-1")

const streams = {
  "by session": { org_id: org, project_id: null, principal: principal({ session_id: session }) },
  "by session elsewhere": {
    org_id: elsewhere,
    project_id: null,
    principal: principal({ session_id: SessionId.make("s2") })
  },
  "by key": { org_id: org, project_id: null, principal: principal({ api_key_id: key }) },
  "by a project's key": { org_id: org, project_id: project, principal: principal({ project_id: project }) },
  "by a branch's key": { org_id: org, project_id: null, principal: principal({ branch_id: branch }) },
  "a revoked project ends its streams and those of its keys": {
    org_id: org,
    project_id: project,
    principal: principal({ user_id: UserId.make("bob") })
  },
  "of another project": { org_id: org, project_id: otherProject, principal: principal({ user_id: UserId.make("bob") }) }
}

const ended = (event: ReturnType<typeof sessionRevoked>) => {
  const revocation = Option.getOrThrow(Option.flatten(revocationOf(logged(1, event))))
  return Object.entries(streams).flatMap(([name, access]) => (revokes(revocation, access) ? [name] : []))
}

describe("a revocation ends the streams", () => {
  it("a revoked session ends its streams", () =>
    assert.deepStrictEqual(ended(sessionRevoked(org, session)), ["by session"]))
  it("a revoked API key ends its streams", () => assert.deepStrictEqual(ended(apiKeyRevoked(org, key)), ["by key"]))
  it("a revoked membership ends the member's streams in that organization, keys included", () =>
    assert.deepStrictEqual(ended(membershipRevoked(org, ada)), [
      "by session",
      "by key",
      "by a project's key",
      "by a branch's key"
    ]))
  it("a revoked account ends its streams in all organizations", () =>
    assert.deepStrictEqual(ended(userRevoked(org, ada)), [
      "by session",
      "by session elsewhere",
      "by key",
      "by a project's key",
      "by a branch's key"
    ]))
  it("a revoked project ends its streams and those of its keys", () =>
    assert.deepStrictEqual(ended(projectRevoked(org, project)), [
      "by a project's key",
      "a revoked project ends its streams and those of its keys"
    ]))
  it("a revoked branch ends the streams of its keys", () =>
    assert.deepStrictEqual(ended(branchRevoked(org, project, branch)), ["by a branch's key"]))
  it("a revoked organization ends its streams", () =>
    assert.deepStrictEqual(ended(organizationRevoked(elsewhere)), ["by session elsewhere"]))
})

describe("internal events", () => {
  it("an event of the same type that is not internal is no revocation", () => {
    assert.isTrue(Option.isNone(revocationOf({ ...sessionRevoked(org, session), internal: false })))
    assert.isTrue(
      Option.isNone(
        allowlistChangeOf({ ...allowlistChanged(org, { project_id: project, version: 1 }), internal: false })
      )
    )
  })

  it("an allowlist change names the project and the version", () => {
    const change = { project_id: ProjectId.make("prj-9"), version: 12 }
    assert.deepStrictEqual(allowlistChangeOf(allowlistChanged(org, change)), Option.some(change))
    assert.isTrue(Option.isNone(allowlistChangeOf({ ...allowlistChanged(org, change), data: { project_id: 3 } })))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { allowlistChanged } from "../../../src/allowlist/AllowlistChange.ts"
import { revocationOf } from "../../../src/events/InternalEvents.ts"
import { revokes } from "../../../src/events/streams/StreamAccess.ts"
import { ApiKeyId, BranchId } from "../../../src/Ids.ts"
import { logged, org, otherProject, principal, project } from "../fixtures.ts"

const access = (more: Parameters<typeof principal>[0]) => ({
  org_id: org,
  project_id: null,
  principal: principal(more)
})

describe("a revocation of one of several", () => {
  it("ends the streams of that key and of no other", () => {
    const revocation = { api_key_id: ApiKeyId.make("key-1") }
    assert.isTrue(revokes(revocation, access({ api_key_id: ApiKeyId.make("key-1") })))
    assert.isFalse(revokes(revocation, access({ api_key_id: ApiKeyId.make("key-2") })))
  })

  it("ends the organization's streams of keys that are narrowed to that project", () => {
    const revocation = { project_id: project }
    assert.isTrue(revokes(revocation, access({ project_id: project })))
    assert.isFalse(revokes(revocation, access({ project_id: otherProject })))
    assert.isFalse(revokes(revocation, access({})))
  })

  it("ends the streams of keys of that branch and of no other", () => {
    const revocation = { branch_id: BranchId.make("br-1") }
    assert.isTrue(revokes(revocation, access({ branch_id: BranchId.make("br-1") })))
    assert.isFalse(revokes(revocation, access({ branch_id: BranchId.make("br-2") })))
  })

  it("is none where an internal event says something else", () => {
    const event = logged(1, allowlistChanged(org, { project_id: project, version: 2 }))
    assert.isTrue(Option.isNone(revocationOf(event)))
  })
})

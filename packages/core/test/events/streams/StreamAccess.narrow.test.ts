import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { ApiKeyId, BranchId } from "../../../src/Ids.ts"
import { allowlistChanged } from "../../../src/records/allowlist/AllowlistChange.ts"
import { revocationOf } from "../../../src/records/events/InternalEvents.ts"
import { revokes } from "../../../src/services/events/streams/StreamAccess.ts"
import { logged, org, otherProject, principal, project } from "../fixtures.ts"

const access = (more: Parameters<typeof principal>[0]) => ({
  org_id: org,
  project_id: null,
  principal: principal(more)
})

describe("a revocation of one of several", () => {
  it("a revoked key ends its own streams and no other key's", () => {
    const revocation = { api_key_id: ApiKeyId.make("key-1") }
    assert.isTrue(revokes(revocation, access({ api_key_id: ApiKeyId.make("key-1") })))
    assert.isFalse(revokes(revocation, access({ api_key_id: ApiKeyId.make("key-2") })))
  })

  it("a revoked project ends the organization's streams of keys narrowed to it", () => {
    const revocation = { project_id: project }
    assert.isTrue(revokes(revocation, access({ project_id: project })))
    assert.isFalse(revokes(revocation, access({ project_id: otherProject })))
    assert.isFalse(revokes(revocation, access({})))
  })

  it("a revoked branch ends the streams of its own keys and no other branch's", () => {
    const revocation = { branch_id: BranchId.make("br-1") }
    assert.isTrue(revokes(revocation, access({ branch_id: BranchId.make("br-1") })))
    assert.isFalse(revokes(revocation, access({ branch_id: BranchId.make("br-2") })))
  })

  it("an internal event of another type is no revocation", () => {
    const event = logged(1, allowlistChanged(org, { project_id: project, version: 2 }))
    assert.isTrue(Option.isNone(revocationOf(event)))
  })
})

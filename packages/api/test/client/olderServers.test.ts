/** Answers of servers of an older version, which lack members that this version knows (docs/design/client.md L28). */
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"

const user = { id: "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10", email: "ada@example.com", name: null }
const organization = { id: "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d11", name: "Ada", role: "owner", personal: true }
const at = "2026-11-20T12:00:00.000Z"

const answering = (body: unknown) =>
  createClient({ baseUrl: "http://narthex.invalid", retries: false, fetch: () => Promise.resolve(Response.json(body)) })

describe("answers of older servers", () => {
  it("whoami of a server without invited_by has no inviter", async () => {
    const { auth } = answering({
      kind: "session",
      user,
      organization,
      account_state: "active",
      capability: null,
      scope: null,
      api_key: null,
      expires_at: at,
      permissions: []
    })
    const { invited_by } = await auth.whoami({}, { credential: "jwt" })
    assert.strictEqual(invited_by, null)
  })

  it("the session of a server without invited_by has no inviter", async () => {
    const { auth } = answering({
      access_token: "jwt",
      token_type: "Bearer",
      expires_at: at,
      refresh_until: at,
      account_state: "active",
      user,
      organization
    })
    const session = await auth.exchange({ id_token: "t" })
    assert.deepStrictEqual([session.invited_by, session.access_token, session.expires_at], [null, "jwt", at])
  })

  it("a project of a server that includes nothing has no endpoint and no note", async () => {
    const project = {
      id: "prj-1",
      org_id: organization.id,
      name: "shop",
      region_id: "local",
      region: "local",
      default_branch_id: "br-1",
      created_at: at,
      updated_at: at
    }
    const { projects } = answering({ projects: [project], pagination: { next_cursor: null } })
    const [listed] = (await projects.list({ include: "endpoint" })).projects
    assert.deepStrictEqual(listed, { ...project, note: null })
  })

  it("the allowlist of a server without refused_family refuses no family that it knows of", async () => {
    const { ipAllow } = answering({ rules: [], restricted: false, opens_at: null })
    assert.isNull((await ipAllow.list({ project_id: "prj-1" })).refused_family)
  })

  it("a branch of a server that does not tell sizes has none", async () => {
    const { branches } = answering({
      branch: {
        id: "br-1",
        project_id: "prj-1",
        region_id: "local",
        parent_id: null,
        name: "main",
        current_state: "ready",
        pending_state: null,
        default: true,
        protected: false,
        expires_at: null,
        created_at: at,
        updated_at: at,
        created_by: null
      }
    })
    const { branch } = await branches.get({ project_id: "prj-1", branch_id: "br-1" })
    assert.deepStrictEqual([branch.name, branch.size_bytes, branch.size_measured_at], ["main", null, null])
  })
})

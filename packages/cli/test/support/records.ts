/** Records in the shapes of the server: one user, two organizations, one project. */
import { ProjectId } from "@narthex/api"

export interface FakeKey {
  readonly id: string
  readonly name: string
  readonly secret: string
  readonly org: string
}

export const acme = "01930000-0000-7000-8000-00000000aaaa"
export const other = "01930000-0000-7000-8000-00000000bbbb"
export const shop = ProjectId.make("prj-01hzx0000000000000000000aa")
export const user = { id: "01930000-0000-7000-8000-00000000cccc", email: "ada@example.com", name: "Ada" }
export const at = "2026-11-20T10:00:00.000Z"
const names: Readonly<Record<string, string>> = { [acme]: "Acme", [other]: "Other" }

export const organization = (id: string) => ({
  id,
  name: names[id] ?? id,
  personal: false,
  role: "owner",
  created_at: at,
  updated_at: at
})

export const whoami = ({ id, name, org }: FakeKey) => ({
  kind: "api_key",
  user,
  organization: { id: org, name: names[org] ?? org, role: "owner", personal: false },
  invited_by: null,
  account_state: "active",
  capability: "read_write",
  scope: { type: "organization" },
  api_key: { id, name, expires_at: null },
  expires_at: null,
  permissions: ["read"],
  later_member: "kept"
})

export const record = ({ id, name, secret }: FakeKey) => ({
  id,
  name,
  hint: `…${secret.slice(-4)}`,
  capability: "read_write",
  scope: { type: "organization" },
  created_at: at,
  created_by: { id: user.id, email: user.email },
  expires_at: null,
  last_used_at: null,
  last_used_from: null,
  revoked_at: null
})

export const project = ({
  id,
  name,
  region
}: {
  readonly id: string
  readonly name: string
  readonly region: string
}) => ({
  id,
  org_id: acme,
  name,
  region_id: region,
  region,
  default_branch_id: "br-01hzx0000000000000000000aa",
  created_at: at,
  updated_at: at
})

export const branch = (project_id: string) => ({
  id: "br-01hzx0000000000000000000aa",
  project_id,
  region_id: "eu",
  parent_id: null,
  name: "main",
  current_state: "init",
  pending_state: "ready",
  default: true,
  protected: false,
  expires_at: null,
  created_at: at,
  updated_at: at,
  created_by: { id: user.id, email: user.email }
})

export const endpoint = (project_id: string) => ({
  id: "ep-01hzx0000000000000000000aa",
  project_id,
  branch_id: "br-01hzx0000000000000000000aa",
  region_id: "eu",
  host: "ep-01hzx0000000000000000000aa.eu.localhost",
  port: 5442,
  type: "read_write",
  current_state: "init",
  pending_state: null,
  disabled: false,
  suspend_timeout_seconds: 300,
  last_active_at: null,
  started_at: null,
  suspended_at: null,
  created_at: at,
  updated_at: at
})

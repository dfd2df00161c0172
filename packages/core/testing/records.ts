/** Complete records for contract suites and tests. Their ids rise, and no other record of this process has them. */
import { DateTime, Duration } from "effect"
import {
  ApiKeyId,
  BranchId,
  EndpointId,
  InvitationId,
  OperationId,
  OrgId,
  ProjectId,
  RegionId,
  SessionId,
  UserId,
  WebhookId
} from "../src/Ids.ts"
import { StoredInvitation } from "../src/records/accounts/Invitation.ts"
import { Membership } from "../src/records/accounts/Membership.ts"
import { Organization } from "../src/records/accounts/Organization.ts"
import { User } from "../src/records/accounts/User.ts"
import { CliGrant } from "../src/records/cli-login/CliGrant.ts"
import { ApiKey, type StoredApiKey } from "../src/records/keys/ApiKey.ts"
import type { ClaimLimits } from "../src/records/operations/nextClaim.ts"
import { Initiator, StoredOperation } from "../src/records/operations/Operation.ts"
import type { OperationClass } from "../src/records/operations/OperationClass.ts"
import { Branch } from "../src/records/projects/Branch.ts"
import { BranchRole } from "../src/records/projects/BranchRole.ts"
import { Endpoint } from "../src/records/projects/Endpoint.ts"
import { Project } from "../src/records/projects/Project.ts"
import { Session } from "../src/records/sessions/Session.ts"

let count = 0
const rising = () => String(++count).padStart(12, "0")
const uuid = () => `0198f3d2-7c1a-7b44-9c55-${rising()}`

export const anOrgId = () => OrgId.make(uuid())
export const aUserId = () => UserId.make(uuid())
export const aProjectId = () => ProjectId.make(`prj-${rising()}`)
export const aBranchId = () => BranchId.make(`br-${rising()}`)
export const anEndpointId = () => EndpointId.make(`ep-${rising()}`)
export const aWebhookId = () => WebhookId.make(`wh-${rising()}`)
/** A text that no other call in this process returns. */
export const aText = (what: string) => `${what} ${rising()}`

/** The first page of a list, which is the whole of a short one. */
export const firstPage = { limit: 1000, after: null }

const start = DateTime.makeUnsafe("2026-01-01T00:00:00.123Z")

/** The instant so many seconds after a fixed start; negative ones are before it. */
export const at = (seconds: number): DateTime.Utc => DateTime.addDuration(start, Duration.seconds(seconds))

export const aUser = (rest: Partial<User> = {}) =>
  new User({
    id: aUserId(),
    issuer: "https://accounts.example.com",
    subject: aText("subject"),
    email: "Ada@example.com",
    email_verified: true,
    name: "Ada 🦆 Lovelace",
    created_at: at(0),
    enabled_at: null,
    disabled_at: null,
    ...rest
  })

export const anOrganization = (rest: Partial<Organization> = {}) =>
  new Organization({ id: anOrgId(), name: "Team", personal: false, created_at: at(0), updated_at: at(0), ...rest })

export const aMembership = (org_id: OrgId, user_id: UserId, rest: Partial<Membership> = {}) =>
  new Membership({ org_id, user_id, role: "member", joined_at: at(0), ...rest })

export const anInvitation = (org_id: OrgId, email: string, rest: Partial<StoredInvitation> = {}) =>
  new StoredInvitation({
    id: InvitationId.make(uuid()),
    org_id,
    email,
    role: "member",
    invited_by: aUser().ref,
    created_at: at(0),
    expires_at: at(100),
    accepted_at: null,
    revoked_at: null,
    ...rest
  })

export const aSession = (user_id: UserId, rest: Partial<Session> = {}) =>
  new Session({
    id: SessionId.make(uuid()),
    user_id,
    active_org_id: anOrgId(),
    generation: 0,
    refreshed_at: at(0),
    signed_in_at: at(0),
    revoked_at: null,
    revoked_reason: null,
    provider: "google",
    user_agent: null,
    address: "203.0.113.9",
    id_token_digest: aText("digest"),
    ...rest
  })

export const aStoredKey = (rest: Partial<ApiKey> = {}, around: Partial<StoredApiKey> = {}): StoredApiKey => ({
  key: new ApiKey({
    id: ApiKeyId.make(`key-${rising()}`),
    name: "laptop",
    hint: "…abcd",
    capability: "read_write",
    scope: { type: "organization" },
    created_at: at(0),
    created_by: aUser().ref,
    expires_at: null,
    last_used_at: null,
    last_used_from: null,
    revoked_at: null,
    ...rest
  }),
  org_id: anOrgId(),
  revoked_reason: null,
  secrets: [{ digest: aText("digest"), pepper_id: "p1", dies_at: null }],
  ...around
})

export const aGrant = (rest: Partial<CliGrant> = {}) =>
  new CliGrant({
    code_digest: aText("code"),
    state_digest: aText("state"),
    code_challenge: "c".repeat(43),
    redirect_uri: "http://127.0.0.1:43210/callback",
    user_id: aUserId(),
    org_id: anOrgId(),
    session_id: SessionId.make(uuid()),
    name: "laptop",
    capability: "read_write",
    scope: { type: "organization" },
    expires_in_days: 90,
    created_at: at(0),
    expires_at: at(60),
    consumed_at: null,
    wrong_verifiers: 0,
    ...rest
  })

export const aProject = (rest: Partial<Project> = {}) =>
  new Project({
    id: aProjectId(),
    org_id: anOrgId(),
    name: "shop",
    region_id: RegionId.make("eu-1"),
    default_branch_id: aBranchId(),
    created_at: at(0),
    updated_at: at(0),
    ...rest
  })

export const aBranch = (project_id: ProjectId, rest: Partial<Branch> = {}) =>
  new Branch({
    id: aBranchId(),
    project_id,
    region_id: RegionId.make("eu-1"),
    parent_id: null,
    name: aText("branch"),
    current_state: "ready",
    pending_state: null,
    default: false,
    protected: false,
    made_by_agent: false,
    made_by_key_id: null,
    expires_at: null,
    created_at: at(0),
    updated_at: at(0),
    created_by: null,
    ...rest
  })

export const anEndpoint = (project_id: ProjectId, branch_id: BranchId, rest: Partial<Endpoint> = {}) =>
  new Endpoint({
    id: EndpointId.make(`ep-${rising()}`),
    project_id,
    branch_id,
    region_id: RegionId.make("eu-1"),
    type: "read_only",
    current_state: "idle",
    pending_state: null,
    disabled: false,
    suspend_timeout_seconds: 300,
    size: { name: "small", cpus: 0.5, memory_bytes: 2 ** 30, disk_bytes: 20 * 2 ** 30 },
    last_active_at: null,
    started_at: null,
    suspended_at: null,
    created_at: at(0),
    updated_at: at(0),
    generation: 1,
    address: null,
    reach: null,
    connections: 0,
    resized: false,
    ...rest
  })

export const aBranchRole = (branch_id: BranchId, rest: Partial<BranchRole> = {}) =>
  new BranchRole({
    role: `role_0000${rising()}`,
    org_id: anOrgId(),
    project_id: aProjectId(),
    branch_id,
    access: "read_write",
    verifier: "SCRAM-SHA-256$4096:salt$stored:server",
    minted_by_agent: false,
    minted_by: aUser().ref,
    api_key_id: null,
    api_key_name: null,
    created_at: at(0),
    expires_at: null,
    revoked_at: null,
    applied_at: null,
    removed_at: null,
    ...rest
  })

/** A claim with limits that are never reached. */
export const aClaim = (of: OperationClass): ClaimLimits => ({
  class: of,
  region_id: RegionId.make("eu-1"),
  per_org: 1_000_000,
  per_parent: 1_000_000
})

export const anOperation = (project_id: ProjectId, branch_id: BranchId | null, rest: Partial<StoredOperation> = {}) =>
  new StoredOperation({
    id: OperationId.make(uuid()),
    project_id,
    branch_id,
    endpoint_id: null,
    action: "create_branch",
    status: "scheduling",
    error: null,
    failures_count: 0,
    retry_at: null,
    initiator: new Initiator({ type: "user", id: aUserId(), name: "Ada" }),
    created_at: at(0),
    updated_at: at(0),
    started_at: null,
    finished_at: null,
    org_id: anOrgId(),
    region_id: RegionId.make("eu-1"),
    copies: null,
    lease_owner: null,
    lease_until: null,
    fence: 0,
    busy_since: null,
    ...rest
  })

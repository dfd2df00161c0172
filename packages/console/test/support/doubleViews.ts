/**
 * Records of the double, encoded with the schemas of the contract. One that does not fit the contract fails the test.
 */
import {
  Account,
  AllowlistRecord,
  ApiKeyRecord,
  BranchRecord,
  ClientRefusalRecord,
  CredentialRecord,
  EndpointRecord,
  OperationRecord,
  ProjectRecord,
  SessionAnswer
} from "@narthex/api"
import { Schema } from "effect"
import type {
  DoubleState,
  Held,
  Person,
  StoredBranch,
  StoredCredential,
  StoredEndpoint,
  StoredKey,
  StoredOperation,
  StoredProject,
  StoredRefusal,
  StoredRule
} from "./DoubleState.ts"
import { inviterView } from "./doubleInvitations.ts"

/** Checks a record by decoding and encoding it. */
const checked =
  <A, I>(schema: Schema.Codec<A, I>) =>
  (wire: unknown): I =>
    Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(wire))

const at = "2026-11-20T12:00:00.000Z"

export const organization = (state: DoubleState, id: string, person: Person) => {
  const org = state.orgs.get(id)
  if (org === undefined) throw new Error(`no organization ${id}`)
  return { id, name: org.name, personal: org.personal, role: org.members.get(person.id) ?? null }
}

/** Who invited the person into the organization, while the membership is not confirmed. */
export const inviter = (state: DoubleState, org: string, person: Person) => {
  const landed = state.landed.get(person.id)
  return landed?.org === org ? inviterView(landed.by) : null
}

export const profile = (person: Person) => ({ id: person.id, email: person.email, name: null })

export const sessionAnswer = (state: DoubleState, token: string, { auth_time, expires_at, org, person }: Held) =>
  checked(SessionAnswer)({
    access_token: token,
    token_type: "Bearer",
    expires_at: new Date(expires_at).toISOString(),
    refresh_until: new Date(auth_time + 12 * 3_600_000).toISOString(),
    account_state: person.pending ? "pending" : "active",
    user: profile(person),
    organization: organization(state, org, person),
    invited_by: inviter(state, org, person)
  })

export const projectView = ({ branch_id, id, name, org_id, region_id }: StoredProject) =>
  checked(ProjectRecord)({
    id,
    org_id,
    name,
    region_id,
    region: region_id,
    default_branch_id: branch_id,
    created_at: at,
    updated_at: at
  })

/** As a list shows it: with its endpoint, if the call includes it. */
export const listedProject = (url: URL) => (project: StoredProject) =>
  checked(ProjectRecord)({
    ...projectView(project),
    ...(url.searchParams.get("include") === "endpoint" ? { endpoint: endpointView(project), last_used_at: null } : {})
  })

/** What a page of the person begins with. */
export const accountView = (
  state: DoubleState,
  { org, person }: Held,
  permissions: ReadonlyArray<string>,
  url: URL
) => {
  const mine = [...state.orgs.values()].filter(({ members }) => members.has(person.id))
  const waiting = [...state.invitations.values()].filter(({ to }) => to === person)
  const projects = [...state.projects.values()].filter(({ org_id }) => org_id === org).toReversed()
  return checked(Account)({
    user: profile(person),
    organization: organization(state, org, person),
    invited_by: inviter(state, org, person),
    permissions,
    organizations: mine.map(({ id }) => ({ ...organization(state, id, person), created_at: at, updated_at: at })),
    pending_invitations: waiting.length,
    ...(url.searchParams.get("include") === "projects"
      ? { projects: projects.slice(0, 100).map(({ id, name }) => ({ id, name })) }
      : {})
  })
}

export const branchView = ({ branch_id, id, region_id }: StoredProject) =>
  checked(BranchRecord)({
    id: branch_id,
    project_id: id,
    region_id,
    parent_id: null,
    name: "main",
    current_state: "ready",
    pending_state: null,
    default: true,
    protected: false,
    expires_at: null,
    created_at: at,
    updated_at: at,
    created_by: null,
    size_bytes: 33_200_000,
    size_measured_at: at
  })

export const endpointView = ({ branch_id, endpoint_id, endpoint_state, id, region_id }: StoredProject) =>
  checked(EndpointRecord)({
    id: endpoint_id,
    project_id: id,
    branch_id,
    region_id,
    host: `${endpoint_id}.${region_id}.localhost`,
    port: 5442,
    connection_template: `postgresql://{role}:{password}@127.0.0.1:5442/postgres?options=endpoint%3D${endpoint_id}`,
    type: "read_write",
    current_state: endpoint_state,
    pending_state: null,
    disabled: false,
    suspend_timeout_seconds: 300,
    last_active_at: null,
    started_at: null,
    suspended_at: null,
    created_at: at,
    updated_at: at
  })

/** A branch other than main. */
export const furtherBranch = (project: StoredProject, { expires_at, id, name, ...more }: StoredBranch) => ({
  ...branchView(project),
  id,
  name,
  default: false,
  parent_id: more.parent_id,
  protected: more.protected,
  expires_at,
  size_bytes: null,
  size_measured_at: null,
  created_by: { id: "u", email: "ada@example.com" }
})

/** An endpoint other than that of main. */
export const furtherEndpoint = (
  project: StoredProject,
  { branch_id, disabled, id, timeout, type }: StoredEndpoint
) => ({
  ...endpointView(project),
  id,
  branch_id,
  type,
  disabled,
  suspend_timeout_seconds: timeout,
  host: `${id}.${project.region_id}.localhost`,
  connection_template: `postgresql://{role}:{password}@127.0.0.1:5442/postgres?options=endpoint%3D${id}`
})

export const operationView = (
  project: StoredProject,
  {
    action,
    branch_id,
    endpoint_id = null,
    error = null,
    id,
    status = "finished"
  }: Omit<StoredOperation, "endpoint_id" | "error"> & { endpoint_id?: string | null; error?: string | null }
) =>
  checked(OperationRecord)({
    id,
    project_id: project.id,
    branch_id: branch_id ?? project.branch_id,
    endpoint_id,
    action,
    status,
    error,
    failures_count: 0,
    retry_at: null,
    initiator: { type: "user", id: "u", name: "ada@example.com" },
    created_at: at,
    updated_at: at,
    started_at: at,
    finished_at: status === "finished" ? "2026-11-20T12:00:01.200Z" : null
  })

export const credentialView = (project: StoredProject, { access, role }: StoredCredential) =>
  checked(CredentialRecord)({
    role,
    access,
    state: "active",
    project_id: project.id,
    branch_id: project.branch_id,
    minted_by: { id: "u", email: "ada@example.com" },
    api_key_id: null,
    api_key_name: null,
    created_at: at,
    expires_at: null
  })

export const ruleView = (rule: StoredRule, person: Person) => ({
  cidr: rule.cidr,
  label: rule.label,
  created_at: at,
  created_by: { id: person.id, email: person.email },
  expires_at: rule.ttl_seconds === null ? null : new Date(Date.parse(at) + rule.ttl_seconds * 1000).toISOString()
})

export const allowlistView = ({ rules }: StoredProject, person: Person) => {
  const views = rules.map((rule) => ruleView(rule, person))
  const ends = views.map((view) => view.expires_at)
  const opens = ends.length > 0 && ends.every((end) => end !== null)
  return checked(AllowlistRecord)({
    rules: views,
    restricted: rules.length > 0,
    opens_at: opens ? ends.toSorted().at(-1) : null,
    refused_family: refusedFamily(rules.map(({ cidr }) => cidr))
  })
}

const refusedFamily = (cidrs: ReadonlyArray<string>) => {
  if (cidrs.includes("0.0.0.0/0")) return cidrs.some((cidr) => cidr.includes(":")) ? null : "ipv6"
  return cidrs.includes("::/0") && !cidrs.some((cidr) => cidr.includes(".")) ? "ipv4" : null
}

export const refusalView = ({ branch_id, endpoint_id }: StoredProject, refusal: StoredRefusal) =>
  checked(ClientRefusalRecord)({
    role: null,
    reason: "address_not_listed",
    endpoint_id,
    branch_id,
    first_at: at,
    last_at: at,
    ...refusal
  })

export const keyView = ({ capability, id, name, person, scope }: StoredKey) =>
  checked(ApiKeyRecord)({
    id,
    name,
    hint: "…wxyz",
    capability,
    scope,
    created_at: at,
    created_by: { id: person.id, email: person.email },
    expires_at: null,
    last_used_at: null,
    last_used_from: null,
    revoked_at: null
  })

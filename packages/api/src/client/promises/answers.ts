// Generated from the contract, packages/api/src/groups/, by scripts/docs.ts: change it there.
/** Answers of the promise client's calls, as JSON. */
import type { Schema } from "effect"

/** A person, the organization that their session acts in, and what else is theirs. */
export type Account = {
  /** The person who calls, or whose API key calls. */
  readonly user: UserProfile
  /** The organization. */
  readonly organization: ActiveOrganization
  /** The inviter, while the membership that the first sign-in brought is not confirmed; otherwise `null`. */
  readonly invited_by: UserProfile | null
  /** The permissions of the role, as far as capability and scope of the credential let them through. */
  readonly permissions: ReadonlyArray<string>
  /** The organizations that the caller is a member of, oldest first. */
  readonly organizations: ReadonlyArray<OrganizationView>
  /** How many invitations are pending for the person's verified address; 100 at most are counted. */
  readonly pending_invitations: number
  /** With `include=projects`: the newest 100 projects of the organization, newest first. */
  readonly projects?: ReadonlyArray<NamedProject>
}

/** The organization that a credential acts in. */
export type ActiveOrganization = {
  /** The id of the organization. */
  readonly id: string
  /** The name of the organization. */
  readonly name: string
  /** The role of the caller; `null`: the membership has ended. */
  readonly role: string | null
  /**
   * Whether it is the organization of one person, which can be neither left nor deleted. Its id is the id of that
   * person.
   */
  readonly personal: boolean
}

/** The list of each project. */
export type Allowlists = {
  /** The id of the project. */
  readonly project_id: string
  /** Grows with every change of the list. */
  readonly version: number
  /** The rules in force. */
  readonly rules: ReadonlyArray<Rules>
  /** The time of the server. */
  readonly server_now: string
}

/** An API key, without its secret. It acts as the person who created it. */
export type ApiKey = {
  /** The id of the API key. */
  readonly id: string
  /** The name of the API key. */
  readonly name: string
  /** `…` and the last four characters of the secret. */
  readonly hint: string
  /**
   * The right of the API key. `read_write`: everything that its creator's role allows. `read`: reads. `agent`: reads,
   * branches and sandboxes of its own, and credentials for them.
   */
  readonly capability: string
  /**
   * The reach of the API key: the organization, one project, or one branch. The short forms `"organization"`,
   * `"project:<project_id>"` and `"branch:<branch_id>"` are accepted too. Left out: the organization.
   */
  readonly scope: OrganizationScope | ProjectScope | BranchScope
  /** When it was created. */
  readonly created_at: string
  /** The person as whom the key acts. */
  readonly created_by: UserRef
  /** When it expires; `null`: never. */
  readonly expires_at: string | null
  /** When the key was used last, to the minute; `null`: never. */
  readonly last_used_at: string | null
  /** The address that used the key last; `null`: never used, or not known. */
  readonly last_used_from: string | null
  /** When it was revoked; `null`: it was not. */
  readonly revoked_at: string | null
}

/** The API key and its secret, which is shown this once. */
export type ApiKeysCreateAnswer = {
  /** The API key, without its secret. */
  readonly api_key: ApiKey
  /** The secret, shown once. */
  readonly secret: string
}

/** The API key. */
export type ApiKeysGetAnswer = {
  /** The API key, without its secret. */
  readonly api_key: ApiKey
}

/** A page of API keys. */
export type ApiKeysListAnswer = {
  /** The API keys, newest first. */
  readonly api_keys: ReadonlyArray<ApiKey>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The person, API key or operator that acted. */
export type AuditActor = {
  /** `user`, `api_key`, `operator` (a command of the server), or `anonymous` (a report of a leaked secret). */
  readonly type: string
  /** The id of the person or of the API key; `null`: neither. */
  readonly id: string | null
  /** The address or name of the person, or the name of the API key; `null`: none. */
  readonly name: string | null
  /** The person who acted, or as whom the API key acts; `null`: none. */
  readonly user: UserRef | null
}

/** Where an act came from. */
export type AuditContext = {
  /** The address of the client; `null`: not known. */
  readonly location: string | null
  /** The name that the client gave itself; `null`: none. */
  readonly user_agent: string | null
  /** The id of the request; `null`: there was none. */
  readonly request_id: string | null
}

/** An act in the organization, or a refused attempt at one. */
export type AuditEntry = {
  /** The id of the entry. */
  readonly id: string
  /** The organization that the entry belongs to; `null`: an act of the operator for all. */
  readonly org_id: string | null
  /** When the act happened. */
  readonly occurred_at: string
  /** The name of the act. Clients accept names that they do not know. */
  readonly action: string
  /** `done`, or `refused` with 403. */
  readonly outcome: string
  /** The person, API key or operator that acted. */
  readonly actor: AuditActor
  /** The object of the act first, then what it is part of. */
  readonly targets: ReadonlyArray<AuditTarget>
  /** Where the act came from. */
  readonly context: AuditContext
  /** More facts about the act, such as the role that was granted. */
  readonly metadata: Readonly<Record<string, string>>
  /** The version of the entry's form. */
  readonly version: number
}

/** A page of entries. */
export type AuditListAnswer = {
  /** The entries, newest first. */
  readonly entries: ReadonlyArray<AuditEntry>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** An object of an act, or one that it is part of. */
export type AuditTarget = {
  /** The kind of the object, such as `project` or `member`. */
  readonly type: string
  /** The id of the object; of a network its CIDR, of a credential its role. */
  readonly id: string
  /** The name at the time of the act; `null`: it has none, or it is not known. */
  readonly name: string | null
}

/** The address. */
export type AuthClientAddressAnswer = {
  /** The address of the client. */
  readonly address: string
}

/** The public keys. */
export type AuthJwksAnswer = {
  /** The public keys, in the form of RFC 7517. */
  readonly keys: ReadonlyArray<Readonly<Record<string, Schema.Json>>>
}

/** The providers, and the origin of the console. */
export type AuthProvidersAnswer = {
  /** The identity providers that people sign in with. */
  readonly providers: ReadonlyArray<ProviderView>
  /** The origin of the console; `null`: there is none. */
  readonly console_url: string | null
}

/** The sessions. */
export type AuthSessionsAnswer = {
  /** The sessions of the caller, newest first. */
  readonly sessions: ReadonlyArray<Session>
}

/** A copy of a project's data, with a Postgres of its own. */
export type Branch = {
  /** The id of the branch. */
  readonly id: string
  /** The id of the project. */
  readonly project_id: string
  /** The id of the region. */
  readonly region_id: string
  /** The id of the branch that this one was copied from; `null`: the first branch of the project. */
  readonly parent_id: string | null
  /** The name of the branch, unique in the project. */
  readonly name: string
  /**
   * The present state. `init`: it is being made. `ready`: it can be used. `resetting`: it is replaced by its parent's
   * data. `archived`: it is not available.
   */
  readonly current_state: string
  /** The state that an operation is bringing it to; `null`: no operation is. */
  readonly pending_state: string | null
  /** Whether it is the default one. */
  readonly default: boolean
  /** Whether the branch is protected from deletion and reset. */
  readonly protected: boolean
  /** When the branch and everything in it is deleted; `null`: never. */
  readonly expires_at: string | null
  /** When it was created. */
  readonly created_at: string
  /** When it was changed last. */
  readonly updated_at: string
  /** The creator, also through an API key; `null`: the platform. */
  readonly created_by: UserRef | null
  /**
   * How much disk the data of the branch takes, in bytes, as it was measured last; `null`: it has not been measured, or
   * is being made or replaced.
   */
  readonly size_bytes: number | null
  /** When it was measured; `null`: not yet. */
  readonly size_measured_at: string | null
  /**
   * Why all credentials of the branch only read now, also those with the access `read_write`. `disk_quota`: its
   * organization holds more disk than its quota. `null`: they do what they were made for.
   */
  readonly read_only_reason: string | null
}

/** The scope of the API key; `null`: a session calls. */
export type BranchScope = {
  /** How much the scope holds. */
  readonly type: "branch"
  /** The project that the scope holds, or that its branch belongs to. */
  readonly project_id: string
  /** The branch that the scope holds. */
  readonly branch_id: string
}

/** The branch, its endpoint if it has one, and the work that makes them. */
export type BranchesCreateAnswer = {
  /** The branch. */
  readonly branch: Branch
  /** The read-write endpoint; `null`: the body asked for none. */
  readonly endpoint: Endpoint | null
  /** The work that the call started, newest first; empty: there was nothing to do. */
  readonly operations: ReadonlyArray<Operation>
}

/** A page of credentials. */
export type BranchesCredentialsAnswer = {
  /** The credentials, newest first. */
  readonly credentials: ReadonlyArray<Credential>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The branch. */
export type BranchesGetAnswer = {
  /** The branch. */
  readonly branch: Branch
}

/** A page of branches. */
export type BranchesListAnswer = {
  /** The branches, newest first. */
  readonly branches: ReadonlyArray<Branch>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The credential, and the password and connection string, which are shown this once. */
export type BranchesMintAnswer = {
  /** The credential, without its password. */
  readonly credential: Credential
  /** The password, shown once. */
  readonly password: string
  /** The connection string with the password, shown once. It works as it is. */
  readonly connection_uri: string
}

/** The branch, and the work that was started. */
export type BranchesResetAnswer = {
  /** The branch. */
  readonly branch: Branch
  /** The work that the call started, newest first; empty: there was nothing to do. */
  readonly operations: ReadonlyArray<Operation>
}

/** The code, for the redirect to the command line. */
export type CliAuthorizeAnswer = {
  /** The code, usable once within 60 seconds. */
  readonly code: string
  /** When the code expires. */
  readonly expires_at: string
}

/** A client that the allowlist of a project refused, at one endpoint. */
export type ClientRefusal = {
  /** The address of the client. */
  readonly address: string
  /** The id of the endpoint. */
  readonly endpoint_id: string
  /** The id of the branch. */
  readonly branch_id: string
  /**
   * The credential that the client named last, without a check of its password; `null`: none that the caller may see.
   */
  readonly role: string | null
  /** Why the last refusal was: `address_not_listed`, or `rules_unknown` when the proxy could not check the rules. */
  readonly reason: string
  /** How many connections were refused. */
  readonly count: number
  /** When the first of them was refused. */
  readonly first_at: string
  /** When the last of them was refused. */
  readonly last_at: string
}

/** A Postgres role of a branch, without its password. */
export type Credential = {
  /** The name of the Postgres role. */
  readonly role: string
  /** The right of the role: `read_write` or `read_only`. */
  readonly access: string
  /**
   * `pending`: no compute has confirmed it yet. `active`. `ending`: revoked or expired, and its sessions may still run.
   */
  readonly state: string
  /** The id of the project. */
  readonly project_id: string
  /** The id of the branch. */
  readonly branch_id: string
  /** The person who minted it, also through an API key; `null`: it was not recorded. */
  readonly minted_by: UserRef | null
  /** The API key that minted it; `null`: a session did. */
  readonly api_key_id: string | null
  /** The name of that API key; `null`: a session did. */
  readonly api_key_name: string | null
  /** When it was created. */
  readonly created_at: string
  /** When it expires; `null`: never. */
  readonly expires_at: string | null
}

/** A host name that Postgres clients connect to, with a compute that is suspended while it is idle. */
export type Endpoint = {
  /** The id of the endpoint, which is part of its host name. */
  readonly id: string
  /** The id of the project. */
  readonly project_id: string
  /** The id of the branch. */
  readonly branch_id: string
  /** The id of the region. */
  readonly region_id: string
  /** `read_write`, of which a branch has at most one, or `read_only`. */
  readonly type: string
  /**
   * The present state. `init`: it is being made. `active`: its compute runs. `idle`: its compute is suspended, and a
   * connection wakes it.
   */
  readonly current_state: string
  /** The state that an operation is bringing it to; `null`: no operation is. */
  readonly pending_state: string | null
  /** Whether connections are refused. */
  readonly disabled: boolean
  /**
   * After how many seconds without activity the compute is suspended: 1 to 604800, or -1 for never. The default is 300.
   */
  readonly suspend_timeout_seconds: number
  /** The CPU, memory and disk that its compute may take; `null`: no limits. */
  readonly size: EndpointSize | null
  /** When a client was active last; `null`: never. */
  readonly last_active_at: string | null
  /** When the compute started last; `null`: never. */
  readonly started_at: string | null
  /** When the compute was suspended last; `null`: never, or it runs. */
  readonly suspended_at: string | null
  /** When it was created. */
  readonly created_at: string
  /** When it was changed last. */
  readonly updated_at: string
  /** The host name for Postgres clients. */
  readonly host: string
  /** The port for Postgres clients. */
  readonly port: number
  /** A connection string with `{role}` and `{password}` in place of a credential, with what this platform needs. */
  readonly connection_template: string | null
}

/** The CPU, memory and disk that the compute of an endpoint may take. */
export type EndpointSize = {
  /** The name of the size. */
  readonly name: string
  /** How many CPUs the compute may use. */
  readonly cpus: number
  /** How much memory the compute may use, in bytes. */
  readonly memory_bytes: number
  /** How much disk the compute gets where it has one of its own, in bytes. */
  readonly disk_bytes: number
}

/** The endpoint, and the work that was started. */
export type EndpointsCreateAnswer = {
  /** The endpoint. */
  readonly endpoint: Endpoint
  /** The work that the call started, newest first; empty: there was nothing to do. */
  readonly operations: ReadonlyArray<Operation>
}

/** The endpoint. */
export type EndpointsGetAnswer = {
  /** The endpoint. */
  readonly endpoint: Endpoint
}

/** A page of endpoints. */
export type EndpointsListAnswer = {
  /** The endpoints, newest first. */
  readonly endpoints: ReadonlyArray<Endpoint>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The sizes. */
export type EndpointsSizesAnswer = {
  /** The sizes, in the operator's order; none: computes have no limits. */
  readonly sizes: ReadonlyArray<OfferedSize>
}

/** An event. Clients ignore members and types that they do not know. */
export type Envelope = {
  /** A ULID that rises strictly along a stream. It is a position: `Last-Event-ID` and `after` take it. */
  readonly id: string
  /** The kind of the event, with the version of its data. */
  readonly type: string
  /** Which part of the platform it is from; `_broker` for frames about the stream itself. */
  readonly source: string
  /** The id of the organization. */
  readonly org_id: string
  /** The project; left out: the event is the organization's. */
  readonly project_id?: string
  /** The id of the region. */
  readonly region_id: string
  /** When it happened. */
  readonly at: string
  /** The data of the type. */
  readonly data: Readonly<Record<string, Schema.Json>>
}

/** A page of events. */
export type EventsHistoryAnswer = {
  /** The events, in the order that the call names. */
  readonly events: ReadonlyArray<Envelope>
  /** Where the next page begins. */
  readonly pagination: Pagination
  /** The oldest event that is retained; `null`: there is none. */
  readonly oldest_id: string | null
  /** Whether nothing is missing between `after` and the first event of the page. */
  readonly complete: boolean
  /** With `include=names`: the names of what the events mention. */
  readonly names?: Names
}

/** Credentials that end with the membership. */
export type Holdings = {
  /** The newest 100 API keys. */
  readonly api_keys: ReadonlyArray<ApiKey>
  /** How many API keys there are. */
  readonly api_keys_count: number
  /** The newest 100 credentials. */
  readonly credentials: ReadonlyArray<Credential>
  /** How many credentials there are. */
  readonly credentials_count: number
}

/** The person, key or part of the platform that asked for it. */
export type Initiator = {
  /** A person's session, an API key, a proxy on behalf of a connection, or the platform itself. */
  readonly type: string
  /** The id of the person or of the API key; `null`: neither. */
  readonly id: string | null
  /** The person's name; `null`: not known. */
  readonly name: string | null
}

/** An invitation into the organization, as its administrators see it. */
export type Invitation = {
  /** The id of the invitation. */
  readonly id: string
  /** The id of the organization. */
  readonly org_id: string
  /** The address that is invited. */
  readonly email: string
  /** The role in the organization: `viewer`, `member`, `admin` or `owner`. */
  readonly role: string
  /** The inviter. */
  readonly invited_by: UserRef
  /** When it was created. */
  readonly created_at: string
  /** When it expires: seven days after it was sent. */
  readonly expires_at: string
  /** When it was accepted; `null`: it was not. */
  readonly accepted_at: string | null
  /** When it was revoked; `null`: it was not. */
  readonly revoked_at: string | null
  /** `pending`, `accepted`, `revoked` or `expired`. */
  readonly status: string
}

/** The invitation. */
export type InvitationsInviteAnswer = {
  /** The invitation. */
  readonly invitation: Invitation
}

/** A page of invitations. */
export type InvitationsListAnswer = {
  /** The invitations, newest first. */
  readonly invitations: ReadonlyArray<Invitation>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** Whether the address may connect, and by which rule. */
export type IpAllowCheckAnswer = {
  /** Whether a client with this address may connect. */
  readonly allowed: boolean
  /** The rule that admits it; `null`: none does, or the project has no rules. */
  readonly matched: string | null
}

/** A page of refused clients. */
export type IpAllowRefusalsAnswer = {
  /** The refused clients, newest first. */
  readonly refusals: ReadonlyArray<ClientRefusal>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** A network that may connect to the endpoints of a project. */
export type IpRule = {
  /** The network in its canonical form. */
  readonly cidr: string
  /** Why the network is listed. */
  readonly label: string
  /** When it was created. */
  readonly created_at: string
  /** The creator, also through an API key; `null`: the platform. */
  readonly created_by: UserRef
  /** When the rule expires; `null`: never. */
  readonly expires_at: string | null
}

/** A member of the organization. */
export type Member = {
  /** The id of the user. */
  readonly user_id: string
  /** The verified email address; `null` where the provider gave none. */
  readonly email: string | null
  /** The name; `null`: the provider gave none. */
  readonly name: string | null
  /** The role in the organization: `viewer`, `member`, `admin` or `owner`. */
  readonly role: string
  /** When the person became a member. */
  readonly joined_at: string
}

/** A project that events mention. */
export type MentionedProject = {
  /** The id of the project. */
  readonly id: string
  /** The name of the project. */
  readonly name: string
  /** Whether the project is deleted. */
  readonly deleted: boolean | null
}

/** A branch by its name. */
export type NamedBranch = {
  /** The id of the branch. */
  readonly id: string
  /** The name of the branch. */
  readonly name: string
  /**
   * The id of the branch that it was copied from, which is named too where it exists; `null`: the first branch of the
   * project.
   */
  readonly parent_id: string | null
}

/** A project by its name. */
export type NamedProject = {
  /** The id of the project. */
  readonly id: string
  /** The name of the project. */
  readonly name: string
}

/** The names of what a page of events mentions. */
export type Names = {
  /** The projects, deleted or not. */
  readonly projects: ReadonlyArray<MentionedProject>
  /** The branches, deleted or not, and those that they were copied from. */
  readonly branches: ReadonlyArray<NamedBranch>
  /** The people who asked for the work and are members. A key of one project sees none. */
  readonly people: ReadonlyArray<UserProfile>
}

/** A size that endpoints can be given. */
export type OfferedSize = {
  /** The name of the size. */
  readonly name: string
  /** How many CPUs the compute may use. */
  readonly cpus: number
  /** How much memory the compute may use, in bytes. */
  readonly memory_bytes: number
  /** How much disk the compute gets where it has one of its own, in bytes. */
  readonly disk_bytes: number
  /** Whether an endpoint gets it when no size is named. */
  readonly default: boolean
}

/** Work that takes time, and its status. */
export type Operation = {
  /** The id of the operation. */
  readonly id: string
  /** The id of the project. */
  readonly project_id: string
  /** The branch that it works on; `null`: none. */
  readonly branch_id: string | null
  /** The endpoint that it works on; `null`: none. */
  readonly endpoint_id: string | null
  /** The kind of work. */
  readonly action: string
  /**
   * `scheduling`, then `running`, then one of the final ones: `finished`, `failed`, `error`, `cancelled` or `skipped`.
   * `cancelling` on the way to `cancelled`.
   */
  readonly status: string
  /** Why it failed, as a sentence; `null`: it did not. */
  readonly error: string | null
  /** How many tries have failed so far. */
  readonly failures_count: number
  /** When it is tried again; `null`: no try is waiting. */
  readonly retry_at: string | null
  /** The person, key or part of the platform that asked for it. */
  readonly initiator: Initiator
  /** When it was created. */
  readonly created_at: string
  /** When it was changed last. */
  readonly updated_at: string
  /** When it started; `null`: it has not started yet. */
  readonly started_at: string | null
  /** When it reached a final status; `null`: not yet. */
  readonly finished_at: string | null
}

/** The operation. */
export type OperationsGetAnswer = {
  /** The operation. */
  readonly operation: Operation
}

/** A page of operations. */
export type OperationsListAnswer = {
  /** The operations of the project, newest first. */
  readonly operations: ReadonlyArray<Operation>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The organization that invites. */
export type Organization = {
  /** The id of the organization. */
  readonly id: string
  /** The name of the organization. */
  readonly name: string
}

/** The scope of the API key; `null`: a session calls. */
export type OrganizationScope = {
  /** How much the scope holds. */
  readonly type: "organization"
}

/** An organization as one of its members sees it. */
export type OrganizationView = {
  /** The id of the organization. */
  readonly id: string
  /** The name of the organization. */
  readonly name: string
  /**
   * Whether it is the organization of one person, which can be neither left nor deleted. Its id is the id of that
   * person.
   */
  readonly personal: boolean
  /** When it was created. */
  readonly created_at: string
  /** When it was changed last. */
  readonly updated_at: string
  /** The role of the caller. */
  readonly role: string
}

/** The member. */
export type OrgsChangeMemberAnswer = {
  /** The member. */
  readonly member: Member
}

/** The organization. */
export type OrgsCreateAnswer = {
  /** The organization. */
  readonly organization: OrganizationView
}

/** The API keys and credentials. */
export type OrgsHoldingsAnswer = {
  /** Credentials that end with the membership. */
  readonly holdings: Holdings
}

/** A page of organizations. */
export type OrgsListAnswer = {
  /** The organizations that the caller is a member of, oldest first. */
  readonly organizations: ReadonlyArray<OrganizationView>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** A page of members. */
export type OrgsMembersAnswer = {
  /** The members, the newest account first. */
  readonly members: ReadonlyArray<Member>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The quotas. */
export type OrgsUsageAnswer = {
  /** Every quota, with what the organization holds of it. */
  readonly usage: ReadonlyArray<Quota>
}

/** An invitation as the invited person sees it. */
export type OwnInvitation = {
  /** The id of the invitation. */
  readonly id: string
  /** The organization that invites. */
  readonly organization: Organization
  /** The role in the organization: `viewer`, `member`, `admin` or `owner`. */
  readonly role: string
  /** The inviter. */
  readonly invited_by: UserProfile
  /** When it was created. */
  readonly created_at: string
  /** When it expires. */
  readonly expires_at: string
}

/** A page of invitations. */
export type OwnInvitationsListAnswer = {
  /** The invitations, newest first. */
  readonly invitations: ReadonlyArray<OwnInvitation>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** Where the next page begins. */
export type Pagination = {
  /** The `cursor` of the next page; `null`: this page is the last. */
  readonly next_cursor: string | null
}

/** A Postgres database with its branches, endpoints and allowlist, in one region. */
export type Project = {
  /** The id. */
  readonly id: string
  /** The id of the organization. */
  readonly org_id: string
  /** The name of the project. */
  readonly name: string
  /** The id of the region. */
  readonly region_id: string
  /** The id of the default branch. */
  readonly default_branch_id: string
  /** When it was created. */
  readonly created_at: string
  /** When it was changed last. */
  readonly updated_at: string
  /** An alias of `region_id`. */
  readonly region: string
  /**
   * With `include=endpoint`: the endpoint whose state is the project's. It is the read-write one of the default branch,
   * else the newest there, else the newest of all; `null`: there is none.
   */
  readonly endpoint?: Endpoint | null
  /**
   * With `include=endpoint`: when one of the newest 100 endpoints was last active, started or suspended; `null`: none
   * has run.
   */
  readonly last_used_at?: string | null
  /** With `include=branches`: how many branches there are; 100 of them at most are counted. */
  readonly branches_count?: number
  /** With `include=branches`: the sum of the measured sizes of the newest 100 branches; `null`: none is measured. */
  readonly size_bytes?: number | null
}

/** A project with what is in it, as far as it was asked for. */
export type ProjectOverview = {
  /** The project. */
  readonly project: Project
  /** With `include=branches`: the newest 1,000 branches. */
  readonly branches?: ReadonlyArray<Branch>
  /** With `include=endpoints`: the newest 1,000 endpoints. */
  readonly endpoints?: ReadonlyArray<Endpoint>
  /** With `include=operations`: the newest 10 operations. */
  readonly operations?: ReadonlyArray<Operation>
  /** With `include=ip_allow`: the allowlist. */
  readonly ip_allow?: RulesInForce
}

/** The scope of the API key; `null`: a session calls. */
export type ProjectScope = {
  /** How much the scope holds. */
  readonly type: "project"
  /** The project that the scope holds, or that its branch belongs to. */
  readonly project_id: string
}

/** The project, its default branch and endpoint, and the operation that makes them. */
export type ProjectsCreateAnswer = {
  /** The project. */
  readonly project: Project
  /** The branch. */
  readonly branch: Branch
  /** The endpoint. */
  readonly endpoint: Endpoint
  /** The work that the call started, newest first; empty: there was nothing to do. */
  readonly operations: ReadonlyArray<Operation>
}

/** The work that was started. The resource answers 404 from now on. */
export type ProjectsDeleteAnswer = {
  /** The work that the call started, newest first; empty: there was nothing to do. */
  readonly operations: ReadonlyArray<Operation>
}

/** The project. */
export type ProjectsGetAnswer = {
  /** The project. */
  readonly project: Project
}

/** A page of projects. */
export type ProjectsListAnswer = {
  /** The projects, newest first. */
  readonly projects: ReadonlyArray<Project>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** An identity provider that people sign in with. */
export type ProviderView = {
  /** The id of the provider. */
  readonly id: string
  /** The name for a sign-in button. */
  readonly name: string
  /** The issuer of the provider's id tokens. */
  readonly issuer: string
}

/** The lists; projects that do not exist are left out. */
export type ProxyAllowlistsAnswer = {
  /** The list of each project. */
  readonly allowlists: ReadonlyArray<Allowlists>
}

/** Where the endpoint is, and the verifier if the role is valid. */
export type ProxyResolveAnswer = {
  /** The id of the endpoint. */
  readonly endpoint_id: string
  /** The id of the organization. */
  readonly org_id?: string
  /** The id of the project. */
  readonly project_id: string
  /** The id of the branch. */
  readonly branch_id: string
  /** The id of the region. */
  readonly region_id: string
  /** The type of the endpoint. */
  readonly type?: "read_write" | "read_only"
  /** Whether connections are refused. */
  readonly disabled: boolean
  /** The present state of the endpoint. */
  readonly current_state: string
  /** The address of the compute: a host and port, or the path of a Unix socket. `null` while it does not run. */
  readonly address: string | null
  /** Which start of the compute it is; grows with every start. `null` while it does not run. */
  readonly generation: number | null
  /** How the proxy has to reach the compute; `null`: without TLS. */
  readonly tls?: Tls | null
  /** Whether the server has roles of its operator's own, which it checks itself. */
  readonly own_roles?: boolean
  /** The SCRAM-SHA-256 verifier of the role; `null`: the branch has no such role now. Left out: none was asked for. */
  readonly verifier?: string | null
  /**
   * Why all credentials of the branch only read now, also those with the access `read_write`. `disk_quota`: its
   * organization holds more disk than its quota. `null`: they do what they were made for.
   */
  readonly read_only_reason?: string | null
}

/** Where the compute runs. */
export type ProxyWakeAnswer = {
  /** The address of the compute: a host and port, or the path of a Unix socket. `null` while it does not run. */
  readonly address: string
  /** Which start of the compute it is; grows with every start. `null` while it does not run. */
  readonly generation: number
  /** How the proxy has to reach the compute; `null`: without TLS. */
  readonly tls?: Tls | null
  /** Whether the server has roles of its operator's own, which it checks itself. */
  readonly own_roles?: boolean
}

/** How much the organization holds of something, and how much it may hold. */
export type Quota = {
  /** The objects that the quota counts. */
  readonly quota: string
  /** How much is held, or counts against the limit. */
  readonly held: number
  /** How much may be. */
  readonly allowed: number
}

/** Where projects can be created. */
export type Region = {
  /** The id of the region. */
  readonly region_id: string
  /** The name for people. */
  readonly name: string
  /** Whether the console preselects it. It has no effect on a creation without a region. */
  readonly default: boolean
  /** The latitude in degrees. */
  readonly geo_lat: number
  /** The longitude in degrees. */
  readonly geo_long: number
  /** Where it is, for people. */
  readonly location?: string
}

/** The regions. */
export type RegionsListAnswer = {
  /** The active regions. */
  readonly regions: ReadonlyArray<Region>
}

/** A network that was listed already, with its new label and expiry. */
export type ReplacedIpRule = {
  /** The network in its canonical form. */
  readonly cidr: string
  /** Why the network is listed. */
  readonly label: string
  /** When it was created. */
  readonly created_at: string
  /** The creator, also through an API key; `null`: the platform. */
  readonly created_by: UserRef
  /** When the rule expires; `null`: never. */
  readonly expires_at: string | null
}

/** The rules in force. */
export type Rules = {
  /** The network in its canonical form. */
  readonly cidr: string
  /** When the rule expires; `null`: never. */
  readonly expires_at: string | null
}

/** The IP allowlist of a project. */
export type RulesInForce = {
  /** The rules in force, oldest first. */
  readonly rules: ReadonlyArray<IpRule>
  /** Whether any rule is in force. Without one, every address may connect. */
  readonly restricted: boolean
  /** When the last rule expires, which opens the project to every address; `null`: that is not foreseen. */
  readonly opens_at: string | null
  /**
   * `ipv6` when `0.0.0.0/0` is listed and no IPv6 network is, so that every IPv6 address is refused; `ipv4` the other
   * way round; `null`: neither.
   */
  readonly refused_family: string | null
}

/** The branch, its endpoint, and the credential, whose password is shown this once. */
export type SandboxesCreateAnswer = {
  /** The branch. */
  readonly branch: Branch
  /** The endpoint. */
  readonly endpoint: Endpoint
  /** The credential, without its password. */
  readonly credential: Credential
  /** The password, shown once. */
  readonly password: string
  /** The connection string with the password, shown once. It works as it is. */
  readonly connection_uri: string
  /** The work that the call started, newest first; empty: there was nothing to do. */
  readonly operations: ReadonlyArray<Operation>
}

/** The process is alive. */
export type ServiceLivezAnswer = {
  /** `ok`. */
  readonly status: string
}

/** A sign-in of the caller. */
export type Session = {
  /** The id of the session. */
  readonly id: string
  /** Whether it is the session that calls. */
  readonly current: boolean
  /** The id of the provider that the person signed in with. */
  readonly provider: string
  /** When the person signed in. */
  readonly signed_in_at: string
  /** When the session token was issued last. */
  readonly last_refreshed_at: string
  /** The name that the client gave itself; `null`: none. */
  readonly user_agent: string | null
  /** The address that signed in; `null`: not known. */
  readonly address: string | null
}

/** A session token, and whom it is for. */
export type SessionAnswer = {
  /** The session token, a JWT. */
  readonly access_token: string
  /** How to send it: `Authorization: Bearer`. */
  readonly token_type: "Bearer"
  /** When the session token expires. */
  readonly expires_at: string
  /** Until when the session can be refreshed. After that the person signs in again. */
  readonly refresh_until: string
  /** `active`, or `pending` until the operator enables the account. */
  readonly account_state: string
  /** The person who calls, or whose API key calls. */
  readonly user: UserProfile
  /** The organization. */
  readonly organization: ActiveOrganization
  /** The inviter, while the membership that the first sign-in brought is not confirmed; otherwise `null`. */
  readonly invited_by: UserProfile | null
}

/** How the proxy has to reach the compute; `null`: without TLS. */
export type Tls = {
  /** The authorities that sign the server's certificate, as PEM; `null`: those of the system. */
  readonly ca: string | null
  /** The name in the server's certificate; left out: the host of the address. */
  readonly server_name?: string
}

/** A person. */
export type UserProfile = {
  /** The id of the user. */
  readonly id: string
  /** The verified email address; `null` where the provider gave none. */
  readonly email: string | null
  /** The name; `null`: the provider gave none. */
  readonly name: string | null
}

/** A person, as records name them. */
export type UserRef = {
  /** The id of the user. */
  readonly id: string
  /** The verified email address; `null` where the provider gave none. */
  readonly email: string | null
}

/** Where events of the organization are delivered, and how far that is. */
export type Webhook = {
  /** The id of the webhook. */
  readonly id: string
  /** The id of the organization. */
  readonly org_id: string
  /** Only events of this project are delivered; `null`: those of the whole organization. */
  readonly project_id: string | null
  /** The URL that events are posted to. */
  readonly url: string
  /** The purpose of the webhook, for people; empty: none was given. */
  readonly label: string
  /** Only events of these types are delivered; empty: all. */
  readonly types: ReadonlyArray<string>
  /** `active`, or `paused`: nothing is delivered until it is replayed. */
  readonly status: string
  /** `failing`: the last retry has failed. `gone`: the receiver has answered 410. `null`: the webhook is active. */
  readonly paused_reason: string | null
  /** The id of the last event that is done. Deliveries go on behind it. */
  readonly position: string
  /** How many attempts have failed since the last success. */
  readonly failures_count: number
  /** Until when deliveries have a signature of the former secret, too; `null`: there is none. */
  readonly previous_secret_expires_at: string | null
  /** When it was created. */
  readonly created_at: string
  /** The person who created it. */
  readonly created_by: UserRef
  /** When it was changed last. */
  readonly updated_at: string
  /** When the next attempt is due, after one that failed; `null`: none has to wait. */
  readonly next_attempt_at: string | null
}

/** An attempt to deliver an event to a webhook. */
export type WebhookDelivery = {
  /** The id of the attempt. */
  readonly id: string
  /** The id of the webhook. */
  readonly webhook_id: string
  /** The event, which the receiver got as `webhook-id`. */
  readonly event_id: string
  /** The type of the event. */
  readonly event_type: string
  /** 1 for the first attempt, and more after failures. */
  readonly attempt: number
  /** `delivered`, or `failed`. */
  readonly outcome: string
  /** The status of the answer; `null`: there was none. */
  readonly status: number | null
  /** Why the attempt failed; `null`: it did not. */
  readonly error: string | null
  /** The begin of the body of the answer. */
  readonly excerpt: string
  /** When the attempt began. */
  readonly attempted_at: string
  /** How long it took, in milliseconds. */
  readonly duration_ms: number
}

/** The webhook, and its secret, which is shown this once. */
export type WebhooksCreateAnswer = {
  /** The webhook. */
  readonly webhook: Webhook
  /** The secret, shown once. */
  readonly secret: string
}

/** A page of attempts. */
export type WebhooksDeliveriesAnswer = {
  /** The attempts, newest first. */
  readonly deliveries: ReadonlyArray<WebhookDelivery>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The webhook. */
export type WebhooksGetAnswer = {
  /** The webhook. */
  readonly webhook: Webhook
}

/** A page of webhooks. */
export type WebhooksListAnswer = {
  /** The webhooks, newest first. */
  readonly webhooks: ReadonlyArray<Webhook>
  /** Where the next page begins. */
  readonly pagination: Pagination
}

/** The caller, and the permissions of the credential. */
export type Whoami = {
  /** Which kind of credential calls: `session` or `api_key`. */
  readonly kind: string
  /** The person who calls, or whose API key calls. */
  readonly user: UserProfile
  /** The organization. */
  readonly organization: ActiveOrganization
  /** The inviter, while the membership that the first sign-in brought is not confirmed; otherwise `null`. */
  readonly invited_by: UserProfile | null
  /** `active`, or `pending` until the operator enables the account. */
  readonly account_state: string
  /** The capability of the API key; `null`: a session calls. */
  readonly capability: string | null
  /** The scope of the API key; `null`: a session calls. */
  readonly scope: OrganizationScope | ProjectScope | BranchScope | null
  /** The API key that calls; `null`: a session does. */
  readonly api_key: WhoamiApiKey | null
  /** When the credential expires; `null`: never. */
  readonly expires_at: string | null
  /** The permissions of the role, as far as capability and scope of the credential let them through. */
  readonly permissions: ReadonlyArray<string>
}

/** The API key that calls; `null`: a session does. */
export type WhoamiApiKey = {
  /** The id of the API key. */
  readonly id: string
  /** The name of the API key. */
  readonly name: string
  /** When it expires; `null`: never. */
  readonly expires_at: string | null
}

/** Members of projects and of what is in them. */
import { exampleTimes as at, exampleIds as ids } from "../exampleValues.ts"
import type { MemberEntry } from "./MemberEntry.ts"

const name = (of: string) =>
  `The name of ${of}: 1 to 128 characters without control characters, counted after trimming. It need not be unique.`
const branchName =
  "The name of the branch: 1 to 63 characters, a letter and then letters, digits, `_`, `.`, `/` and `-`; unique in the project."
const suspendTimeout =
  "After how many seconds without activity the compute is suspended: 1 to 604800, or -1 for never. The default is 300."

export const projectsMembers: Readonly<Record<string, MemberEntry>> = {
  // Projects, branches, endpoints
  region: ["An alias of `region_id`.", "eu-central"],
  "projects.create.name": [name("the project"), "checkout"],
  "projects.create.region": [
    "The region of the project, which never changes. It may be left out while the platform has exactly one active region.",
    "eu-central"
  ],
  "projects.create.region_id": ["An alias of `region`. If both are sent, they must be the same.", undefined],
  "projects.rename.name": [name("the project"), "checkout"],
  "projects.rename.region": ["Always refused: the region of a project never changes.", undefined],
  "projects.rename.region_id": ["Always refused: the region of a project never changes.", undefined],
  "Project.name": ["The name of the project.", "checkout"],
  default_branch_id: ["The id of the default branch.", ids.branch],
  "Project.endpoint": [
    "With `include=endpoint`: the endpoint whose state is the project's. It is the read-write one of the default branch, else the newest there, else the newest of all; `null`: there is none.",
    undefined
  ],
  "Project.last_used_at": [
    "With `include=endpoint`: when one of the newest 100 endpoints was last active, started or suspended; `null`: none has run.",
    undefined
  ],
  "ProjectOverview.branches": ["With `include=branches`: the newest 1,000 branches.", undefined],
  "ProjectOverview.endpoints": ["With `include=endpoints`: the newest 1,000 endpoints.", undefined],
  "ProjectOverview.operations": ["With `include=operations`: the newest 10 operations.", undefined],
  "ProjectOverview.ip_allow": ["With `include=ip_allow`: the allowlist.", undefined],
  "NamedProject.id": ["The id of the project.", ids.project],
  "NamedProject.name": ["The name of the project.", "checkout"],
  "MentionedProject.id": ["The id of the project.", ids.project],
  "MentionedProject.name": ["The name of the project.", "checkout"],
  "MentionedProject.deleted": ["Whether the project is deleted.", false],
  "NamedBranch.id": ["The id of the branch.", ids.branch],
  "NamedBranch.name": ["The name of the branch.", "preview"],
  "NamedBranch.parent_id": [
    "The id of the branch that it was copied from, which is named too where it exists; `null`: the first branch of the project.",
    null
  ],
  "Branch.id": ["The id of the branch.", ids.branch],
  "Branch.name": ["The name of the branch, unique in the project.", "main"],
  parent_id: ["The id of the branch that this one was copied from; `null`: the first branch of the project.", null],
  "Branch.current_state": [
    "The present state. `init`: it is being made. `ready`: it can be used. `resetting`: it is replaced by its parent's data. `archived`: it is not available.",
    "ready"
  ],
  pending_state: ["The state that an operation is bringing it to; `null`: no operation is.", null],
  default: ["Whether it is the default one.", true],
  protected: ["Whether the branch is protected from deletion and reset.", false],
  size_bytes: [
    "How much disk the data of the branch takes, in bytes, as it was measured last; `null`: it has not been measured, or is being made or replaced.",
    33_554_432
  ],
  size_measured_at: ["When it was measured; `null`: not yet.", at.updated],
  read_only_reason: [
    "Why all credentials of the branch only read now, also those with the access `read_write`. `disk_quota`: its organization holds more disk than its quota. `null`: they do what they were made for.",
    null
  ],
  "Branch.expires_at": ["When the branch and everything in it is deleted; `null`: never.", null],
  created_by: ["Who created it, also through an API key; `null`: the platform."],
  "branches.create.name": [`${branchName} Left out: a name is made.`, "preview"],
  "branches.create.parent_id": ["The branch to copy. Left out: the default branch of the project.", ids.branch],
  "branches.create.protected": ["Whether the branch is protected from deletion and reset. Left out: `false`.", false],
  "branches.create.ttl_seconds": [
    "After how many seconds the branch is deleted: up to ten years. Left out: never.",
    86_400
  ],
  "branches.create.endpoint": ["Whether the branch gets a read-write endpoint. Left out: `false`.", true],
  "branches.change.name": [branchName, "preview-2"],
  "branches.change.protected": ["Whether the branch is protected from deletion and reset.", true],
  "branches.change.ttl_seconds": ["After how many seconds from now the branch is deleted; `null`: never.", null],
  "sandboxes.create.parent_id": ["The branch to copy. Left out: the default branch of the project.", ids.branch],
  "sandboxes.create.ttl_seconds": ["After how many seconds the sandbox is deleted: 1 to 86400. Left out: 3600.", 3600],
  "sandboxes.create.name": [`${branchName} Left out: a name is made.`, "agent-run-17"],
  "Endpoint.id": ["The id of the endpoint, which is part of its host name.", ids.endpoint],
  "Endpoint.type": ["`read_write`, of which a branch has at most one, or `read_only`.", "read_write"],
  "Endpoint.current_state": [
    "The present state. `init`: it is being made. `active`: its compute runs. `idle`: its compute is suspended, and a connection wakes it.",
    "active"
  ],
  host: ["The host name for Postgres clients.", `${ids.endpoint}.eu-central.narthex.example`],
  port: ["The port for Postgres clients.", 5432],
  connection_template: [
    "A connection string with `{role}` and `{password}` in place of a credential, with what this platform needs.",
    `postgresql://{role}:{password}@${ids.endpoint}.eu-central.narthex.example:5432/postgres?sslmode=require`
  ],
  disabled: ["Whether connections are refused.", false],
  suspend_timeout_seconds: [suspendTimeout, 300],
  last_active_at: ["When a client was active last; `null`: never.", at.updated],
  "Endpoint.started_at": ["When the compute started last; `null`: never.", at.updated],
  suspended_at: ["When the compute was suspended last; `null`: never, or it runs.", null],
  "endpoints.create.branch_id": ["The branch that the endpoint serves.", ids.branch],
  "endpoints.create.type": ["The type of the endpoint. Left out: `read_only`.", "read_only"],
  "endpoints.change.disabled": ["Whether connections are refused. Disabling ends the ones that are open.", true],

  // Operations
  "Operation.id": ["The id of the operation.", ids.operation],
  "Operation.branch_id": ["The branch that it works on; `null`: none.", ids.branch],
  "Operation.endpoint_id": ["The endpoint that it works on; `null`: none.", ids.endpoint],
  action: ["What the work is.", "start_compute"],
  "Operation.status": [
    "`scheduling`, then `running`, then one of the final ones: `finished`, `failed`, `error`, `cancelled` or `skipped`. `cancelling` on the way to `cancelled`.",
    "running"
  ],
  error: ["Why it failed, as a sentence; `null`: it did not.", null],
  failures_count: ["How many tries have failed so far.", 0],
  retry_at: ["When it is tried again; `null`: no try is waiting.", null],
  "Operation.finished_at": ["When it reached a final status; `null`: not yet.", null],
  initiator: ["Who or what asked for it."],
  "initiator.type": [
    "A person's session, an API key, a proxy on behalf of a connection, or the platform itself.",
    "user"
  ],
  "initiator.id": ["The id of the person or of the API key; `null`: neither.", ids.user],
  "initiator.name": ["Their name; `null`: not known.", "Ada Lovelace"],

  // Credentials of databases
  "Credential.role": ["The name of the Postgres role.", "ada_rw_8f3k2m"],
  access: ["What the role may do: `read_write` or `read_only`.", "read_write"],
  state: [
    "`pending`: no compute has confirmed it yet. `active`. `ending`: revoked or expired, and its sessions may still run.",
    "active"
  ],
  minted_by: ["The person who minted it, also through an API key; `null`: it was not recorded."],
  "Credential.api_key_id": ["The API key that minted it; `null`: a session did.", null],
  api_key_name: ["The name of that API key; `null`: a session did.", null],
  password: ["The password, shown once; `null` in a repeated answer.", "EXAMPLE-password-shown-once"],
  connection_uri: [
    "The connection string with the password, shown once; `null` in a repeated answer. It works as it is.",
    `postgresql://ada_rw_8f3k2m:EXAMPLE-password-shown-once@${ids.endpoint}.eu-central.narthex.example:5432/postgres?sslmode=require`
  ],
  "branches.mint.access": ["What the role may do.", "read_write"],
  "branches.mint.ttl_seconds": [
    "After how many seconds the role expires. Left out: never; for `agent` keys an hour. Never beyond the life of the key that mints.",
    28_800
  ],

  // The IP allowlist
  rules: ["The rules in force, oldest first."],
  restricted: ["Whether any rule is in force. Without one, every address may connect.", true],
  opens_at: [
    "When the last rule expires, which opens the project to every address; `null`: that is not foreseen.",
    null
  ],
  refused_family: [
    "`ipv6` when `0.0.0.0/0` is listed and no IPv6 network is, so that every IPv6 address is refused; `ipv4` the other way round; `null`: neither.",
    null
  ],
  cidr: ["The network in its canonical form.", "203.0.113.0/24"],
  label: ["Why the network is listed.", "office"],
  "ipAllow.add.cidr": [
    "The network, for example `203.0.113.0/24` or `2001:db8::/32`. One address is a /32 or /128. Set host bits are refused.",
    "203.0.113.0/24"
  ],
  "ipAllow.add.label": ["Why the network is listed: up to 256 characters.", "office"],
  "ipAllow.add.ttl_seconds": ["After how many seconds the rule expires: up to ten years. Left out: never.", 28_800],
  "IpRule.expires_at": ["When the rule expires; `null`: never.", null],
  "ReplacedIpRule.expires_at": ["When the rule expires; `null`: never.", null],
  "ipAllow.check.answer.allowed": ["Whether a client with this address may connect.", true],
  "ClientRefusal.address": ["The address of the client.", "203.0.113.9"],
  "ClientRefusal.role": [
    "The credential that the client named last, without a check of its password; `null`: none that the caller may see.",
    "role_8f3k2m9x1c4v7b0n"
  ],
  "ClientRefusal.reason": [
    "Why the last refusal was: `address_not_listed`, or `rules_unknown` when the proxy could not check the rules.",
    "address_not_listed"
  ],
  "ClientRefusal.count": ["How many connections were refused.", 12],
  "ClientRefusal.first_at": ["When the first of them was refused.", at.created],
  "ClientRefusal.last_at": ["When the last of them was refused.", at.updated],
  matched: ["The rule that admits it; `null`: none does, or the project has no rules.", "203.0.113.0/24"],

  // Regions
  "Region.name": ["The name for people.", "Frankfurt"],
  "Region.default": ["Whether the console preselects it. It has no effect on a creation without a region.", true],
  geo_lat: ["The latitude in degrees.", 50.11],
  geo_long: ["The longitude in degrees.", 8.68],
  location: ["Where it is, for people.", "Frankfurt, Germany"],

  // Events
  "Envelope.id": [
    "A ULID that rises strictly along a stream. It is a position: `Last-Event-ID` and `after` take it.",
    ids.event
  ],
  "Envelope.type": ["What happened, with the version of its data.", "operation.updated.v1"],
  source: ["Which part of the platform it is from; `_broker` for frames about the stream itself.", "operations"],
  "Envelope.project_id": ["The project; left out: the event is the organization's.", ids.project],
  at: ["When it happened.", at.updated],
  data: ["The data of the type.", { operation_id: ids.operation, action: "start_compute", status: "finished" }],
  oldest_id: ["The oldest event that is retained; `null`: there is none.", ids.event],
  names: ["With `include=names`: the names of what the events mention.", undefined],
  "Names.projects": ["The projects, deleted or not."],
  "Names.branches": ["The branches, deleted or not, and those that they were copied from."],
  people: ["The people who asked for the work and are members. A key of one project sees none."],
  complete: ["Whether nothing is missing between `after` and the first event of the page.", true]
}

/** Members of projects and of what is in them. */
import { exampleTimes as at, exampleIds as ids, type MemberEntry } from "@narthex/core"

const suspendTimeout =
  "After how many seconds without activity the compute is suspended: 1 to 604800, or -1 for never. The default is 300."

export const projectsMembers: Readonly<Record<string, MemberEntry>> = {
  // Projects, branches, endpoints
  region: ["An alias of `region_id`.", "eu-central"],
  pending_state: ["The state that an operation is bringing it to; `null`: no operation is.", null],
  created_by: ["The creator, also through an API key; `null`: the platform."],
  suspend_timeout_seconds: [suspendTimeout, 300],

  // Operations

  // Credentials of databases
  "Credential.role": ["The name of the Postgres role.", "ada_rw_8f3k2m"],
  access: ["The right of the role: `read_write` or `read_only`.", "read_write"],
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
  "Envelope.type": ["The kind of the event, with the version of its data.", "operation.updated.v1"],
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

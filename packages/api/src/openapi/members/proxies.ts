/** Members of the calls of proxies. */
import { exampleTimes as at, exampleIds as ids, type MemberEntry } from "@narthex/core"

const sentTo =
  "The address of the compute: a host and port, or the path of a Unix socket. `null` while it does not run."

export const proxiesMembers: Readonly<Record<string, MemberEntry>> = {
  // Proxies
  "proxy.resolve.answer.org_id": ["The id of the organization.", ids.organization],
  "proxy.resolve.answer.type": ["The type of the endpoint.", "read_write"],
  "proxy.resolve.answer.current_state": ["The present state of the endpoint.", "active"],
  "proxy.resolve.answer.disabled": ["Whether connections are refused.", false],
  "proxy.resolve.answer.read_only_reason": [
    "Why all credentials of the branch only read now, also those with the access `read_write`. `disk_quota`: its organization holds more disk than its quota. `null`: they do what they were made for.",
    null
  ],
  "endpoints.last_active_at": ["When a client was active last; `null`: never.", at.updated],
  "proxy.resolve.answer.address": [sentTo, "/run/narthex/ep/7"],
  "proxy.wake.answer.address": [sentTo, "/run/narthex/ep/7"],
  tls: ["How the proxy has to reach the compute; `null`: without TLS.", null],
  ca: ["The authorities that sign the server's certificate, as PEM; `null`: those of the system.", null],
  server_name: ["The name in the server's certificate; left out: the host of the address.", "db.example"],
  own_roles: ["Whether the server has roles of its operator's own, which it checks itself.", false],
  verifier: [
    "The SCRAM-SHA-256 verifier of the role; `null`: the branch has no such role now. Left out: none was asked for.",
    "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy"
  ],
  "proxy.resolve.role": ["The role whose verifier is wanted.", "role_8f3k2m9x1c4v7b0n"],
  key_hash: [
    "The SHA-256 of the cancel key, as hexadecimal digits.",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  ],
  generation: ["Which start of the compute it is; grows with every start. `null` while it does not run.", 7],
  allowlists: ["The list of each project."],
  version: ["Grows with every change of the list.", 12],
  server_now: ["The time of the server.", at.updated],
  "allowlists.rules": ["The rules in force."],
  "rules.expires_at": ["When the rule expires; `null`: never.", null],
  project_ids: ["The projects whose lists are wanted: at most 1,000.", [ids.project]],
  client_address: ["The address of the client that connects.", "198.51.100.17"],
  unreachable: ["The generation of a compute that could not be connected to.", 6],
  proxy_id: ["Names the process of the proxy.", "proxy-1-4711"],
  sequence: ["Grows with every call of this process; a lower one than before changes nothing.", 42],
  "proxy.refusals.refusals": ["The refused clients: at most 200."],
  "proxy.refusals.sequence": ["Grows with every report of this process; one that is repeated counts once.", 42],
  "refusals.address": ["The address of the client.", "198.51.100.17"],
  "refusals.role": ["The role that the client named; left out: none of the platform's form.", "role_8f3k2m9x1c4v7b0n"],
  "refusals.reason": ["`address_not_listed` or `rules_unknown`.", "address_not_listed"],
  "refusals.count": ["How many connections were refused.", 3],
  first_ms: ["The milliseconds since the first of them, by the proxy's monotonic clock.", 5200],
  last_ms: ["The milliseconds since the last of them.", 150],
  "proxy.activity.endpoints": ["The computes in use: at most 200."],
  connections: ["How many authenticated sessions there are.", 3],
  busy: ["How many of them are in a transaction, a query or a copy.", 1],
  idle_ms: ["The milliseconds since the last activity, by the proxy's monotonic clock.", 120]
}

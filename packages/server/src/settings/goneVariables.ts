/**
 * Variables that earlier versions had, each with what holds now. A deployment that still sets one starts, and its log
 * says that the variable has no effect.
 */
import {
  defaultEventLimits,
  defaultEventSettings,
  defaultQuotas,
  defaultRetention,
  defaultRunnerSettings,
  defaultWaitLimit,
  KeyLimit
} from "@narthex/core"
import { defaultRateLimits as rates } from "@narthex/http"
import type { Duration } from "effect"
import { duration } from "./forms.ts"

const { branches, computes, deletions, roles } = defaultRunnerSettings.classes

const deadline = (work: string, of: { readonly deadline: Duration.Duration }) =>
  `a try to ${work} may take ${duration.write(of.deadline)}.`

const shared = (of: string) => `an organization has at most half the places of NARTHEX_${of}_PLACES at once.`

const quota = (name: "branches_per_project" | "credentials_per_branch" | "invitations" | "members" | "sandboxes") =>
  `the quota ${name} is ${defaultQuotas[name]}, and \`narthex-server quotas set\` changes it for an organization.`

const limit = (what: string, count: number) => `the limit is ${count} ${what}.`

const unproved = "at most half of NARTHEX_PROXY_CONNECTIONS are of clients that have not proved their password."

const unknown = "look-ups that find nothing are limited to 20 a second for each network."

/** By name. Each sentence stands after "NARTHEX_X is gone: ". */
export const goneVariables: ReadonlyMap<string, string> = new Map([
  ["NARTHEX_STATIC_ENDPOINTS", 'list each server in NARTHEX_STATIC_COMPUTES, as {"address"} without "admin_url".'],
  ["NARTHEX_COMPUTES_DEADLINE", deadline("start or stop a compute", computes)],
  ["NARTHEX_COMPUTES_PER_ORG", shared("COMPUTES")],
  ["NARTHEX_ROLES_DEADLINE", deadline("change the roles of a branch", roles)],
  ["NARTHEX_ROLES_PER_ORG", shared("ROLES")],
  ["NARTHEX_BRANCHES_DEADLINE", deadline("create or reset a branch", branches)],
  ["NARTHEX_BRANCHES_PER_ORG", shared("BRANCHES")],
  ["NARTHEX_DELETIONS_DEADLINE", deadline("remove a deleted branch", deletions)],
  ["NARTHEX_DELETIONS_PER_ORG", shared("DELETIONS")],
  ["NARTHEX_COPIES_PER_PARENT", `${defaultRunnerSettings.per_parent} copies of a branch run at once.`],
  [
    "NARTHEX_BUSY_LIMIT",
    `an operation waits ${duration.write(defaultRunnerSettings.busy_limit)} for a machine that has room.`
  ],
  ["NARTHEX_OPERATION_RETENTION", `operations are kept for ${duration.write(defaultRetention.operations)}.`],
  ["NARTHEX_EVENT_RING", `${defaultEventSettings.ring_events} events of each organization are kept in memory.`],
  [
    "NARTHEX_EVENT_HEARTBEAT",
    `a silent event stream has a heartbeat every ${duration.write(defaultEventSettings.heartbeat)}.`
  ],
  ["NARTHEX_STREAM_MAX_AGE", `an event stream lives for at most ${duration.write(defaultEventSettings.max_age)}.`],
  ["NARTHEX_QUOTA_BRANCHES_PER_PROJECT", quota("branches_per_project")],
  ["NARTHEX_QUOTA_SANDBOXES", quota("sandboxes")],
  ["NARTHEX_QUOTA_CREDENTIALS_PER_BRANCH", quota("credentials_per_branch")],
  ["NARTHEX_QUOTA_MEMBERS", quota("members")],
  ["NARTHEX_QUOTA_INVITATIONS", quota("invitations")],
  ["NARTHEX_LIMIT_EXCHANGE", limit("sign-ins a minute and client address", rates.exchange_per_minute)],
  ["NARTHEX_LIMIT_CLI_EXCHANGE", limit("logins a minute and client address", rates.cli_exchange_per_minute)],
  ["NARTHEX_LIMIT_FAILURES", limit("failures a minute and client address", rates.failures_per_minute)],
  ["NARTHEX_LIMIT_REPORTS", limit("reports an hour and client address", rates.reports_per_hour)],
  ["NARTHEX_LIMIT_REFRESH", limit("refreshes a minute and session", rates.refresh_per_minute)],
  ["NARTHEX_LIMIT_KEY_CREATION", limit("new API keys an hour and user", rates.key_creation_per_hour)],
  ["NARTHEX_LIMIT_INVITATION_CREATION", limit("invitations an hour and caller", rates.invitation_creation_per_hour)],
  [
    "NARTHEX_LIMIT_ORG_INVITATION_CREATION",
    limit("invitations an hour and organization", rates.org_invitation_creation_per_hour)
  ],
  ["NARTHEX_LIMIT_CHANGES", limit("changes a minute and caller", rates.changes_per_minute)],
  ["NARTHEX_LIMIT_ORG_CHANGES", limit("changes a minute and organization", rates.org_changes_per_minute)],
  [
    "NARTHEX_LIMIT_ORGANIZATION_CREATION",
    limit("new organizations an hour and user", rates.organization_creation_per_hour)
  ],
  ["NARTHEX_LIMIT_PERSON_CALLS", "each session and key has the rate NARTHEX_LIMIT_CALLS."],
  ["NARTHEX_PROXY_WORKERS", "run several proxies, behind one load balancer."],
  ["NARTHEX_PROXY_UNAUTHENTICATED", unproved],
  ["NARTHEX_PROXY_UNAUTHENTICATED_PER_ADDRESS", unproved],
  ["NARTHEX_PROXY_AUTHENTICATION_TIMEOUT", "a client has 10 seconds to prove its password."],
  ["NARTHEX_PROXY_UNKNOWN_RATE", unknown],
  ["NARTHEX_PROXY_UNKNOWN_RATE_PER_NETWORK", unknown],
  ["NARTHEX_LIMIT_KEYS", limit("active API keys of a user in an organization", KeyLimit.defaultValue())],
  ["NARTHEX_LIMIT_ORG_STREAMS", limit("open event streams of an organization", defaultEventLimits.org_streams)],
  ["NARTHEX_LIMIT_INSTANCE_STREAMS", limit("open event streams of an instance", defaultEventLimits.instance_streams)],
  ["NARTHEX_LIMIT_STREAM_OPENS", limit("new event streams a second and caller", defaultEventLimits.opens)],
  ["NARTHEX_LIMIT_WAITS", limit("open waits of a caller", defaultWaitLimit.waits)],
  ["NARTHEX_LIMIT_ORG_WAITS", limit("open waits of an organization", defaultWaitLimit.org_waits)],
  ["NARTHEX_LIMIT_INSTANCE_WAITS", limit("open waits of an instance", defaultWaitLimit.instance_waits)]
])

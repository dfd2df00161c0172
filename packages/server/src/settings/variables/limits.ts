/** Variables of the limits (docs/design/identity.md I44–I47, docs/design/events.md). */
import { defaultEventLimits, defaultWaitLimit, KeyLimit } from "@narthex/core"
import { defaultRateLimits } from "@narthex/http"
import * as forms from "../forms.ts"
import { optional, variable } from "../Variable.ts"

export const limits = {
  rate_limits: optional(
    "NARTHEX_RATE_LIMITS",
    forms.words("on", "off"),
    "`npm start` in development: off; otherwise: on",
    "`off` switches off every limit of the following rows, those of streams included."
  ),
  limits: {
    exchange_per_minute: variable(
      "NARTHEX_LIMIT_EXCHANGE",
      forms.count,
      defaultRateLimits.exchange_per_minute,
      "Sign-ins per minute and client address."
    ),
    cli_exchange_per_minute: variable(
      "NARTHEX_LIMIT_CLI_EXCHANGE",
      forms.count,
      defaultRateLimits.cli_exchange_per_minute,
      "Logins of the command line per minute and client address."
    ),
    failures_per_minute: variable(
      "NARTHEX_LIMIT_FAILURES",
      forms.count,
      defaultRateLimits.failures_per_minute,
      "Failed authentications per minute and client address."
    ),
    reports_per_hour: variable(
      "NARTHEX_LIMIT_REPORTS",
      forms.count,
      defaultRateLimits.reports_per_hour,
      "Reports of leaked secrets per hour and client address."
    ),
    refresh_per_minute: variable(
      "NARTHEX_LIMIT_REFRESH",
      forms.count,
      defaultRateLimits.refresh_per_minute,
      "Refreshes per minute and session."
    ),
    key_creation_per_hour: variable(
      "NARTHEX_LIMIT_KEY_CREATION",
      forms.count,
      defaultRateLimits.key_creation_per_hour,
      "New API keys per hour and user."
    ),
    creation_per_minute: variable(
      "NARTHEX_LIMIT_CREATION",
      forms.count,
      defaultRateLimits.creation_per_minute,
      "New projects, branches, sandboxes, endpoints, networks and database credentials, resets, starts, suspends, cancellations and changes of the default branch, per minute and person or API key."
    ),
    org_creation_per_minute: variable(
      "NARTHEX_LIMIT_ORG_CREATION",
      forms.count,
      defaultRateLimits.org_creation_per_minute,
      "The same per minute and organization."
    ),
    invitation_creation_per_hour: variable(
      "NARTHEX_LIMIT_INVITATION_CREATION",
      forms.count,
      defaultRateLimits.invitation_creation_per_hour,
      "New, resent and accepted invitations per hour and person or API key."
    ),
    org_invitation_creation_per_hour: variable(
      "NARTHEX_LIMIT_ORG_INVITATION_CREATION",
      forms.count,
      defaultRateLimits.org_invitation_creation_per_hour,
      "The same per hour and organization."
    ),
    changes_per_minute: variable(
      "NARTHEX_LIMIT_CHANGES",
      forms.count,
      defaultRateLimits.changes_per_minute,
      "Other calls that change something, per minute and person or API key."
    ),
    org_changes_per_minute: variable(
      "NARTHEX_LIMIT_ORG_CHANGES",
      forms.count,
      defaultRateLimits.org_changes_per_minute,
      "The same per minute and organization."
    ),
    calls_per_second: variable(
      "NARTHEX_LIMIT_CALLS",
      forms.count,
      defaultRateLimits.calls_per_second,
      "Calls per second, session or API key, and instance. Calls of four seconds may be made at once."
    ),
    organization_creation_per_hour: variable(
      "NARTHEX_LIMIT_ORGANIZATION_CREATION",
      forms.count,
      defaultRateLimits.organization_creation_per_hour,
      "New organizations per hour and user."
    ),
    keys: variable(
      "NARTHEX_LIMIT_KEYS",
      forms.count,
      KeyLimit.defaultValue(),
      "Active API keys per user and organization."
    ),
    streams: variable(
      "NARTHEX_LIMIT_STREAMS",
      forms.count,
      defaultEventLimits.streams,
      "Open event streams per principal."
    ),
    org_streams: variable(
      "NARTHEX_LIMIT_ORG_STREAMS",
      forms.count,
      defaultEventLimits.org_streams,
      "Open event streams per organization."
    ),
    instance_streams: variable(
      "NARTHEX_LIMIT_INSTANCE_STREAMS",
      forms.count,
      defaultEventLimits.instance_streams,
      "Open event streams per instance."
    ),
    waits: variable(
      "NARTHEX_LIMIT_WAITS",
      forms.count,
      defaultWaitLimit.waits,
      "Calls that wait for operations, per principal and instance."
    ),
    org_waits: variable(
      "NARTHEX_LIMIT_ORG_WAITS",
      forms.count,
      defaultWaitLimit.org_waits,
      "Calls that wait for operations, per organization and instance."
    ),
    instance_waits: variable(
      "NARTHEX_LIMIT_INSTANCE_WAITS",
      forms.count,
      defaultWaitLimit.instance_waits,
      "Calls that wait for operations, per instance."
    ),
    stream_opens_per_second: variable(
      "NARTHEX_LIMIT_STREAM_OPENS",
      forms.count,
      defaultEventLimits.opens,
      "New event streams per second and principal."
    )
  }
}

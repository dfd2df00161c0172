/** Variables of the limits (docs/design/identity.md I44–I47, docs/design/events.md). */
import { defaultEventLimits } from "@narthex/core"
import { defaultRateLimits } from "@narthex/http"
import * as forms from "../forms.ts"
import { optional, variable } from "../Variable.ts"

export const limits = {
  rate_limits: optional(
    "NARTHEX_RATE_LIMITS",
    forms.words("on", "off"),
    "`npm start` in development: off; otherwise: on",
    "`off` switches off every rate limit, and the limits of open streams, waits and API keys."
  ),
  limits: {
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
    calls_per_second: variable(
      "NARTHEX_LIMIT_CALLS",
      forms.count,
      defaultRateLimits.calls_per_second,
      "Calls per second, session or API key, and instance. Calls of four seconds may be made at once."
    ),
    streams: variable(
      "NARTHEX_LIMIT_STREAMS",
      forms.count,
      defaultEventLimits.streams,
      "Open event streams per principal."
    )
  }
}

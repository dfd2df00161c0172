/**
 * What handlers and middleware need to know of the server that they run in. Plain values: only `settings/` reads the
 * environment.
 */
import { defaultEventSettings } from "@narthex/core"
import { Context, type Duration, type Redacted } from "effect"
import type { OriginRules } from "./ClientAddress.ts"

export interface ServerFacts {
  readonly console_url: string | null
  readonly origin: OriginRules
  /** What proxies show to `/v1/proxy/*`; `null`: those calls are closed. */
  readonly proxy_token: Redacted.Redacted | null
  /** The newest version of the command line that this server knows of. */
  readonly cli_latest: string
  readonly heartbeat: Duration.Duration
}

export const ServerIdentity = Context.Reference<ServerFacts>("@narthex/http/ServerIdentity", {
  defaultValue: () => ({
    console_url: null,
    origin: { trusted_hops: 0, console_token: null },
    proxy_token: null,
    cli_latest: "0.1.0",
    heartbeat: defaultEventSettings.heartbeat
  })
})

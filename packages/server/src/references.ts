/** Hands the settings to the references of the core and the API. */
import {
  AccessPolicy,
  defaultEventLimits,
  defaultEventSettings,
  defaultRetention,
  defaultRunnerSettings,
  EmittingRegion,
  EventSettings,
  KeyLimit,
  ProxyAddress,
  QuotaPolicy,
  type RegionId,
  RetentionPolicy,
  RunnerPolicy,
  SessionPolicy,
  SizeCatalog,
  WaitLimit,
  WebhookNetworks
} from "@narthex/core"
import { defaultRateLimits, LoggedRequests, RateLimits, ServerIdentity } from "@narthex/http"
import { Layer, type Redacted } from "effect"
import type { Addresses } from "./addresses.ts"
import type { Settings } from "./settings/Settings.ts"
import { version } from "./version.ts"

export interface Tokens {
  /** `null`: no request is taken for the console's. */
  readonly console: Redacted.Redacted | null
  /** `null`: `/v1/proxy/*` is closed. */
  readonly proxy: Redacted.Redacted | null
}

/** One organization holds at most half the places of an instance (docs/design/operations.md O8). */
const shared = (places: number) => ({ places, per_org: Math.ceil(places / 2) })

export const layerReferences = (settings: Settings, region: RegionId, addresses: Addresses, tokens: Tokens) => {
  const { limits, operations, proxy } = settings
  const { branches, computes, deletions, roles } = defaultRunnerSettings.classes
  const { streams, ...rates } = limits ?? {}
  return Layer.mergeAll(
    Layer.succeed(AccessPolicy, settings.access),
    Layer.succeed(SessionPolicy, settings.sessions),
    limits === null ? Layer.succeed(KeyLimit, Number.POSITIVE_INFINITY) : Layer.empty,
    limits === null ? Layer.succeed(WaitLimit, null) : Layer.empty,
    Layer.succeed(QuotaPolicy, settings.quotas),
    settings.sizes === null ? Layer.empty : Layer.succeed(SizeCatalog, settings.sizes),
    Layer.succeed(WebhookNetworks, settings.webhook_networks),
    Layer.succeed(RateLimits, limits === null ? null : { ...defaultRateLimits, ...rates }),
    Layer.succeed(EmittingRegion, region),
    Layer.succeed(EventSettings, {
      ...defaultEventSettings,
      retention: settings.events.retention,
      limits: streams === undefined ? null : { ...defaultEventLimits, streams }
    }),
    Layer.succeed(RetentionPolicy, { ...defaultRetention, ...settings.retention }),
    Layer.succeed(RunnerPolicy, {
      ...defaultRunnerSettings,
      region,
      classes: {
        computes: { ...computes, ...shared(operations.computes_places) },
        roles: { ...roles, ...shared(operations.roles_places) },
        branches: { ...branches, ...shared(operations.branches_places) },
        deletions: { ...deletions, ...shared(operations.deletions_places) }
      }
    }),
    Layer.succeed(ProxyAddress, {
      domain: proxy.domain,
      host: proxy.host === "0.0.0.0" ? "127.0.0.1" : proxy.host,
      port: addresses.proxy.port,
      tls: proxy.tls !== null
    }),
    Layer.succeed(LoggedRequests, settings.log.requests),
    Layer.succeed(ServerIdentity, {
      console_url: addresses.console.url,
      origin: { trusted_hops: settings.trusted_hops, console_token: tokens.console },
      proxy_token: tokens.proxy,
      cli_latest: version,
      heartbeat: defaultEventSettings.heartbeat
    })
  )
}

/** Hands the settings to the references of the core and the API. */
import {
  AccessPolicy,
  defaultEventSettings,
  defaultRunnerSettings,
  EmittingRegion,
  EventSettings,
  KeyLimit,
  ProxyAddress,
  QuotaPolicy,
  RegionId,
  RetentionPolicy,
  RunnerPolicy,
  SessionPolicy,
  WaitLimit
} from "@narthex/core"
import { LoggedRequests, RateLimits, ServerIdentity } from "@narthex/http"
import { placesPerPerson } from "@narthex/local-postgres"
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

export const layerReferences = (settings: Settings, addresses: Addresses, tokens: Tokens, cores?: number) => {
  const { events, limits, operations, proxy } = settings
  const { classes } = defaultRunnerSettings
  const shared = settings.compute === "local" ? placesPerPerson(cores) : classes
  return Layer.mergeAll(
    Layer.succeed(AccessPolicy, settings.access),
    Layer.succeed(SessionPolicy, settings.sessions),
    Layer.succeed(KeyLimit, limits?.keys ?? Number.POSITIVE_INFINITY),
    Layer.succeed(
      WaitLimit,
      limits === null
        ? null
        : { waits: limits.waits, org_waits: limits.org_waits, instance_waits: limits.instance_waits }
    ),
    Layer.succeed(QuotaPolicy, settings.quotas),
    Layer.succeed(RateLimits, limits),
    Layer.succeed(EmittingRegion, RegionId.make(settings.region)),
    Layer.succeed(EventSettings, {
      ...defaultEventSettings,
      ring_events: events.ring,
      retention: events.retention,
      heartbeat: events.heartbeat,
      max_age: events.stream_max_age,
      limits:
        limits === null
          ? null
          : {
              streams: limits.streams,
              org_streams: limits.org_streams,
              instance_streams: limits.instance_streams,
              opens: limits.stream_opens_per_second
            }
    }),
    Layer.succeed(RetentionPolicy, settings.retention),
    Layer.succeed(RunnerPolicy, {
      ...defaultRunnerSettings,
      busy_limit: operations.busy_limit,
      per_parent: operations.copies_per_parent,
      classes: {
        computes: {
          places: operations.computes_places,
          per_org: operations.computes_per_org ?? shared.computes.per_org,
          deadline: operations.computes_deadline
        },
        roles: {
          places: operations.roles_places,
          per_org: operations.roles_per_org,
          deadline: operations.roles_deadline
        },
        branches: {
          places: operations.branches_places,
          per_org: operations.branches_per_org ?? shared.branches.per_org,
          deadline: operations.branches_deadline
        },
        deletions: {
          places: operations.deletions_places,
          per_org: operations.deletions_per_org,
          deadline: operations.deletions_deadline
        }
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
      heartbeat: events.heartbeat
    })
  )
}

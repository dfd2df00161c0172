/** Hands the options to the references of the core and the API. */
import {
  AccessPolicy,
  defaultEventLimits,
  defaultEventSettings,
  defaultQuotas,
  defaultRetention,
  defaultRunnerSettings,
  defaultWaitLimit,
  EventSettings,
  KeyLimit,
  layerEventTypes,
  layerRoles,
  ProxyAddress,
  QuotaPolicy,
  RetentionPolicy,
  RunnerPolicy,
  type RunnerSettings,
  SessionPolicy,
  SizeCatalog,
  WaitLimit
} from "@narthex/core"
import { defaultRateLimits, RateLimits, ServerIdentity } from "@narthex/http/web"
import { Effect, Layer, Redacted } from "effect"
import type { CoreOptions, OperationOptions } from "../options/ControlPlaneOptions.ts"

/** The defaults with what was chosen. A member that is `undefined` is left out. */
const withChosen = <A extends object>(defaults: A, chosen: Partial<A> = {}): A => ({
  ...defaults,
  // The members that were given, with their values.
  ...(Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) as Partial<A>)
})

/** The same; `null`: none. */
const over = <A extends object>(defaults: A, chosen: Partial<A> | null | undefined): A | null =>
  chosen === null ? null : withChosen(defaults, chosen)

/** The policy of the runner: of each class, too, only what was chosen differs. */
const runnerPolicy = ({ classes = {}, ...chosen }: OperationOptions = {}): RunnerSettings => {
  const { branches, computes, deletions, roles } = defaultRunnerSettings.classes
  return {
    ...withChosen(defaultRunnerSettings, chosen),
    classes: {
      branches: withChosen(branches, classes.branches),
      computes: withChosen(computes, classes.computes),
      deletions: withChosen(deletions, classes.deletions),
      roles: withChosen(roles, classes.roles)
    }
  }
}

const none = { rates: null, streams: null, waits: null, keys: Number.POSITIVE_INFINITY }

export const layerReferences = ({
  eventTypes,
  events,
  operations,
  proxy,
  proxyToken,
  retention,
  roles,
  sessions,
  signup,
  sizes,
  limits = {}
}: CoreOptions) => {
  const { keys, quotas, rates, streams, waits } = { quotas: undefined, ...(limits ?? none) }
  const settings = withChosen(defaultEventSettings, events)
  return Layer.mergeAll(
    layerEventTypes(eventTypes ?? {}),
    roles === undefined ? Layer.empty : layerRoles(roles),
    Layer.effect(
      AccessPolicy,
      Effect.map(AccessPolicy, (defaults) => withChosen(defaults, signup))
    ),
    Layer.effect(
      SessionPolicy,
      Effect.map(SessionPolicy, (defaults) => withChosen(defaults, sessions))
    ),
    keys === undefined ? Layer.empty : Layer.succeed(KeyLimit, keys),
    Layer.succeed(WaitLimit, over(defaultWaitLimit, waits)),
    Layer.succeed(QuotaPolicy, withChosen(defaultQuotas, quotas)),
    sizes === undefined ? Layer.empty : Layer.succeed(SizeCatalog, sizes),
    Layer.succeed(RateLimits, over(defaultRateLimits, rates)),
    Layer.succeed(EventSettings, { ...settings, limits: over(defaultEventLimits, streams) }),
    Layer.succeed(RetentionPolicy, withChosen(defaultRetention, retention)),
    Layer.succeed(RunnerPolicy, runnerPolicy(operations)),
    Layer.effect(
      ProxyAddress,
      Effect.map(ProxyAddress, (defaults) => withChosen(defaults, proxy))
    ),
    Layer.effect(
      ServerIdentity,
      Effect.map(ServerIdentity, (defaults) => ({
        ...defaults,
        proxy_token: proxyToken === undefined ? null : Redacted.make(proxyToken, { label: "proxy token" }),
        heartbeat: settings.heartbeat
      }))
    )
  )
}

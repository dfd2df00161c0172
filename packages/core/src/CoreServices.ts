/**
 * Every service of the core over its ports. A host must provide storage, a token signer, identity providers, computes
 * and a pepper, and nothing else.
 */
import { Layer } from "effect"
import { ClientRefusals } from "./allowlist/ClientRefusals.ts"
import { IpAllowlist } from "./allowlist/IpAllowlist.ts"
import { CliLogin } from "./cli-login/CliLogin.ts"
import { EventFeed } from "./events/EventFeed.ts"
import { EventFollowing } from "./events/EventFollowing.ts"
import { EventHistory } from "./events/EventHistory.ts"
import { EventBroker } from "./events/streams/EventBroker.ts"
import { EventStreams } from "./events/streams/EventStreams.ts"
import { Authentication } from "./guard/Authentication.ts"
import { Authorization } from "./guard/Authorization.ts"
import { layerStreamAuthority } from "./guard/streamAuthority.ts"
import { HostEvents } from "./host-events/HostEvents.ts"
import { ApiKeys } from "./key-issuing/ApiKeys.ts"
import { KeyUses } from "./keys/KeyUses.ts"
import { Operations } from "./operations/Operations.ts"
import { OperationWaits } from "./operations/OperationWaits.ts"
import { Invitations } from "./organizations/Invitations.ts"
import { OperatorAccounts } from "./organizations/OperatorAccounts.ts"
import { Organizations } from "./organizations/Organizations.ts"
import { OwnInvitations } from "./organizations/OwnInvitations.ts"
import { Overviews } from "./overviews/Overviews.ts"
import { Branches } from "./provisioning/Branches.ts"
import { Credentials } from "./provisioning/Credentials.ts"
import { Endpoints } from "./provisioning/Endpoints.ts"
import { Projects } from "./provisioning/Projects.ts"
import { Sandboxes } from "./provisioning/Sandboxes.ts"
import { ProxyRequests } from "./proxying/ProxyRequests.ts"
import { BranchSizes } from "./quotas/BranchSizes.ts"
import { Quotas } from "./quotas/Quotas.ts"
import { Regions } from "./regions/Regions.ts"
import { layerPurging } from "./retention.ts"
import { DiskMeasurement } from "./runner/DiskMeasurement.ts"
import { OperationCancels } from "./runner/OperationCancels.ts"
import { OperationRunner } from "./runner/OperationRunner.ts"
import { Reconciler } from "./runner/Reconciler.ts"
import { RoleReconciler } from "./runner/RoleReconciler.ts"
import { People } from "./sign-in/People.ts"
import { Sessions } from "./sign-in/Sessions.ts"
import { SignIn } from "./sign-in/SignIn.ts"

/** The streams of clients, on the feed: only processes that serve streams need them. */
export const layerStreams = EventStreams.layer.pipe(
  Layer.provideMerge(layerStreamAuthority),
  Layer.provideMerge(EventBroker.layer)
)

const Accounts = Layer.mergeAll(
  Invitations.layer,
  OperatorAccounts.layer,
  Organizations.layer,
  OwnInvitations.layer,
  People.layer,
  Sessions.layer
).pipe(Layer.provideMerge(SignIn.layer))

const Keys = CliLogin.layer.pipe(Layer.provideMerge(ApiKeys.layer), Layer.provideMerge(KeyUses.layer))

const Work = Layer.mergeAll(
  Projects.layer,
  Sandboxes.layer,
  ProxyRequests.layer,
  Reconciler.layer,
  RoleReconciler.layer,
  DiskMeasurement.layer,
  ClientRefusals.layer,
  IpAllowlist.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(Branches.layer, Credentials.layer, Endpoints.layer, OperationCancels.layer)),
  Layer.provideMerge(Layer.merge(OperationWaits.layer, Regions.layer)),
  Layer.provideMerge(Operations.layer)
)

const Access = Layer.mergeAll(Authentication.layer, Authorization.layer)

/** Every service but the streams: operation waits, the runner and the proxies' hints read the feed alone. */
export const layerWithoutStreams = Layer.mergeAll(Accounts, Work, Access, HostEvents.layer, Overviews.layer).pipe(
  Layer.provideMerge(Layer.merge(Quotas.layer, BranchSizes.layer)),
  Layer.provideMerge(Keys),
  Layer.provideMerge(EventFollowing.layer),
  Layer.provideMerge(Layer.merge(EventFeed.layer, EventHistory.layer))
)

/**
 * The services that API calls need.
 *
 * @example
 * import * as Core from "@narthex/core"
 * import { Layer, Redacted } from "effect"
 * const pepper = { id: "1", key: Redacted.make(crypto.getRandomValues(new Uint8Array(32))) }
 * export const core = Core.layerServices.pipe(
 *   Layer.provideMerge(Layer.merge(Core.layerMemoryPorts, Core.TokenSigner.layerMemory)),
 *   Layer.provideMerge(Layer.merge(Core.layerMemoryComputes, Core.KeyDigester.layer(pepper))),
 *   Layer.provideMerge(Core.IdentityProvider.layerMemory(new Map()))
 * )
 */
export const layerServices = layerStreams.pipe(Layer.provideMerge(layerWithoutStreams))

/** The background work: the role `runner`. */
export const layerRunner = Layer.mergeAll(
  OperationRunner.layerNudged,
  Reconciler.layerLoop,
  RoleReconciler.layerLoop,
  DiskMeasurement.layerLoop,
  layerPurging
)

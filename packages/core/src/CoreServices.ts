/**
 * Every service of the core over its ports. A host must provide storage, a token signer, identity providers, computes
 * and a pepper, and nothing else. Without `layerSecretSealer` and a `WebhookSender` it has no webhooks.
 */
import { Layer } from "effect"
import { EventFeed } from "./records/events/EventFeed.ts"
import { EventFollowing } from "./records/events/EventFollowing.ts"
import { EventHistory } from "./records/events/EventHistory.ts"
import { KeyUses } from "./records/keys/KeyUses.ts"
import { layerPurging } from "./retention.ts"
import { layerAnnounceRunner } from "./runner/announceRunner.ts"
import { DiskMeasurement } from "./runner/DiskMeasurement.ts"
import { OperationCancels } from "./runner/OperationCancels.ts"
import { OperationRunner } from "./runner/OperationRunner.ts"
import { Reconciler } from "./runner/Reconciler.ts"
import { RoleReconciler } from "./runner/RoleReconciler.ts"
import { layerMeasureBacklog } from "./runner/runnerMetrics.ts"
import { WebhookWorker } from "./runner/webhooks/WebhookWorker.ts"
import { Authentication } from "./services/access/Authentication.ts"
import { Authorization } from "./services/access/Authorization.ts"
import { layerStreamAuthority } from "./services/access/streamAuthority.ts"
import { ClientRefusals } from "./services/allowlist/ClientRefusals.ts"
import { IpAllowlist } from "./services/allowlist/IpAllowlist.ts"
import { Audit } from "./services/audit/Audit.ts"
import { CliLogin } from "./services/cli-login/CliLogin.ts"
import { EventBroker } from "./services/events/streams/EventBroker.ts"
import { EventStreams } from "./services/events/streams/EventStreams.ts"
import { ApiKeys } from "./services/keys/ApiKeys.ts"
import { Operations } from "./services/operations/Operations.ts"
import { OperationWaits } from "./services/operations/OperationWaits.ts"
import { Invitations } from "./services/organizations/Invitations.ts"
import { OperatorAccounts } from "./services/organizations/OperatorAccounts.ts"
import { Organizations } from "./services/organizations/Organizations.ts"
import { OwnInvitations } from "./services/organizations/OwnInvitations.ts"
import { Overviews } from "./services/overviews/Overviews.ts"
import { HostEvents } from "./services/own-events/HostEvents.ts"
import { Branches } from "./services/projects/Branches.ts"
import { Credentials } from "./services/projects/Credentials.ts"
import { Endpoints } from "./services/projects/Endpoints.ts"
import { Projects } from "./services/projects/Projects.ts"
import { Sandboxes } from "./services/projects/Sandboxes.ts"
import { ProxyRequests } from "./services/proxy-requests/ProxyRequests.ts"
import { BranchSizes } from "./services/quotas/BranchSizes.ts"
import { Quotas } from "./services/quotas/Quotas.ts"
import { Regions } from "./services/regions/Regions.ts"
import { People } from "./services/sign-in/People.ts"
import { Sessions } from "./services/sign-in/Sessions.ts"
import { SignIn } from "./services/sign-in/SignIn.ts"
import { Webhooks } from "./services/webhooks/Webhooks.ts"

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

const Access = Layer.mergeAll(Audit.layer, Authentication.layer, Authorization.layer)

/** Every service but the streams: operation waits, the runner and the proxies' hints read the feed alone. */
export const layerWithoutStreams = Layer.mergeAll(
  Accounts,
  Work,
  Access,
  HostEvents.layer,
  Overviews.layer,
  Webhooks.layer
).pipe(
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
  WebhookWorker.layerLoop,
  layerAnnounceRunner,
  layerMeasureBacklog,
  layerPurging
)

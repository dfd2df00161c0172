/** Every storage port in memory, sharing one transaction, for an embedded core without a database and for tests. */
import { Layer } from "effect"
import { CredentialStore } from "./records/access/CredentialStore.ts"
import { AccountStore } from "./records/accounts/AccountStore.ts"
import { InvitationStore } from "./records/accounts/InvitationStore.ts"
import { ClientRefusalStore } from "./records/allowlist/ClientRefusalStore.ts"
import { IpAllowlistStore } from "./records/allowlist/IpAllowlistStore.ts"
import { AuditLog } from "./records/audit/AuditLog.ts"
import { CliGrantStore } from "./records/cli-login/CliGrantStore.ts"
import { EventLog } from "./records/events/EventLog.ts"
import { IdempotencyStore } from "./records/idempotency/IdempotencyStore.ts"
import { ApiKeyStore } from "./records/keys/ApiKeyStore.ts"
import { RateLimiter } from "./records/limits/RateLimiter.ts"
import { MemoryStorage } from "./records/memory/MemoryStorage.ts"
import { OperationStore } from "./records/operations/OperationStore.ts"
import { OverviewStore } from "./records/overviews/OverviewStore.ts"
import { BranchRoleStore } from "./records/projects/BranchRoleStore.ts"
import { BranchStore } from "./records/projects/BranchStore.ts"
import { ComputeDoubtStore } from "./records/projects/ComputeDoubtStore.ts"
import { EndpointStore } from "./records/projects/EndpointStore.ts"
import { ProjectStore } from "./records/projects/ProjectStore.ts"
import { EndedRecordStore } from "./records/purge/EndedRecordStore.ts"
import { QuotaStore } from "./records/quotas/QuotaStore.ts"
import { RegionCatalog } from "./records/regions/RegionCatalog.ts"
import { SessionStore } from "./records/sessions/SessionStore.ts"
import { SigningKeyStore } from "./records/sessions/SigningKeyStore.ts"
import { WebhookStore } from "./records/webhooks/WebhookStore.ts"
import { Transaction } from "./Transaction.ts"

const Stores = Layer.mergeAll(
  AccountStore.layerMemory,
  ApiKeyStore.layerMemory,
  AuditLog.layerMemory,
  BranchRoleStore.layerMemory,
  BranchStore.layerMemory,
  CliGrantStore.layerMemory,
  ClientRefusalStore.layerMemory,
  ComputeDoubtStore.layerMemory,
  EndedRecordStore.layerMemory,
  EndpointStore.layerMemory,
  IdempotencyStore.layerMemory,
  InvitationStore.layerMemory,
  IpAllowlistStore.layerMemory,
  OperationStore.layerMemory,
  ProjectStore.layerMemory,
  QuotaStore.layerMemory,
  RateLimiter.layerMemory,
  RegionCatalog.layerMemory,
  SessionStore.layerMemory,
  SigningKeyStore.layerMemory,
  WebhookStore.layerMemory
)

/**
 * All storage ports, in memory.
 *
 * @example
 * import { layerMemoryPorts, RegionCatalog } from "@narthex/core"
 * import { Effect } from "effect"
 * export const regions = RegionCatalog.use(({ active }) => active).pipe(Effect.provide(layerMemoryPorts))
 */
export const layerMemoryPorts = Layer.mergeAll(
  CredentialStore.layerMemory,
  OverviewStore.layerMemory,
  Transaction.layerMemory
).pipe(Layer.provideMerge(Layer.merge(Stores, EventLog.layerMemory)), Layer.provide(MemoryStorage.layer))

/** Every storage port in memory, sharing one transaction, for an embedded core without a database and for tests. */
import { Layer } from "effect"
import { AccountStore } from "./accounts/AccountStore.ts"
import { InvitationStore } from "./accounts/InvitationStore.ts"
import { ClientRefusalStore } from "./allowlist/ClientRefusalStore.ts"
import { IpAllowlistStore } from "./allowlist/IpAllowlistStore.ts"
import { CliGrantStore } from "./cli-login/CliGrantStore.ts"
import { EndedRecordStore } from "./ended-records/EndedRecordStore.ts"
import { EventLog } from "./events/EventLog.ts"
import { CredentialStore } from "./guard/CredentialStore.ts"
import { IdempotencyStore } from "./idempotency/IdempotencyStore.ts"
import { ApiKeyStore } from "./keys/ApiKeyStore.ts"
import { RateLimiter } from "./limits/RateLimiter.ts"
import { MemoryStorage } from "./memory/MemoryStorage.ts"
import { OperationStore } from "./operations/OperationStore.ts"
import { OverviewStore } from "./overviews/OverviewStore.ts"
import { BranchRoleStore } from "./projects/BranchRoleStore.ts"
import { BranchStore } from "./projects/BranchStore.ts"
import { ComputeDoubtStore } from "./projects/ComputeDoubtStore.ts"
import { EndpointStore } from "./projects/EndpointStore.ts"
import { ProjectStore } from "./projects/ProjectStore.ts"
import { QuotaStore } from "./quotas/QuotaStore.ts"
import { RegionCatalog } from "./regions/RegionCatalog.ts"
import { SessionStore } from "./sessions/SessionStore.ts"
import { SigningKeyStore } from "./sessions/SigningKeyStore.ts"
import { Transaction } from "./Transaction.ts"

const Stores = Layer.mergeAll(
  AccountStore.layerMemory,
  ApiKeyStore.layerMemory,
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
  SigningKeyStore.layerMemory
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

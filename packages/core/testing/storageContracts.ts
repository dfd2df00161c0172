/** The contracts of all storage ports: what a storage adapter has to pass. */
import type { Layer } from "effect"
import { credentialStoreContract } from "./access/CredentialStore.ts"
import { accountStoreContract } from "./accounts/AccountStore.ts"
import { invitationStoreContract } from "./accounts/InvitationStore.ts"
import { clientRefusalStoreContract } from "./allowlist/ClientRefusalStore.ts"
import { ipAllowlistStoreContract } from "./allowlist/IpAllowlistStore.ts"
import { auditLogContract } from "./audit/AuditLog.ts"
import { cliGrantStoreContract } from "./cli-login/CliGrantStore.ts"
import { type Contract, runContract, type TestRunner } from "./contract.ts"
import { eventLogContract } from "./events/eventLogContract.ts"
import { idempotencyStoreContract } from "./idempotency/IdempotencyStore.ts"
import { apiKeyStoreContract } from "./keys/ApiKeyStore.ts"
import { rateLimiterContract } from "./limits/RateLimiter.ts"
import { operationClaimsContract } from "./operations/OperationClaims.ts"
import { operationQueuesContract } from "./operations/OperationQueues.ts"
import { operationStoreContract } from "./operations/OperationStore.ts"
import { overviewStoreContract } from "./overviews/OverviewStore.ts"
import { branchRoleStoreContract } from "./projects/BranchRoleStore.ts"
import { branchStoreContract } from "./projects/BranchStore.ts"
import { computeDoubtStoreContract } from "./projects/ComputeDoubtStore.ts"
import { endpointStoreContract } from "./projects/EndpointStore.ts"
import { projectStoreContract } from "./projects/ProjectStore.ts"
import { endedRecordStoreContract } from "./purge/EndedRecordStore.ts"
import { branchDiskContract } from "./quotas/BranchDisk.ts"
import { quotaStoreContract } from "./quotas/QuotaStore.ts"
import { regionCatalogContract } from "./regions/RegionCatalog.ts"
import { sessionStoreContract } from "./sessions/SessionStore.ts"
import { signingKeyStoreContract } from "./sessions/SigningKeyStore.ts"
import { transactionContract } from "./Transaction.ts"
import { webhookStoreContract } from "./webhooks/WebhookStore.ts"

const all = [
  accountStoreContract,
  apiKeyStoreContract,
  auditLogContract,
  branchRoleStoreContract,
  branchStoreContract,
  clientRefusalStoreContract,
  cliGrantStoreContract,
  computeDoubtStoreContract,
  credentialStoreContract,
  endedRecordStoreContract,
  endpointStoreContract,
  eventLogContract,
  idempotencyStoreContract,
  invitationStoreContract,
  ipAllowlistStoreContract,
  operationClaimsContract,
  operationQueuesContract,
  operationStoreContract,
  overviewStoreContract,
  projectStoreContract,
  quotaStoreContract,
  branchDiskContract,
  rateLimiterContract,
  regionCatalogContract,
  sessionStoreContract,
  signingKeyStoreContract,
  transactionContract,
  webhookStoreContract
] as const

type PortsOf<C> = C extends Contract<infer R> ? R : never

/** Every storage port, with the transaction that covers them: what a storage adapter provides. */
export type StoragePorts = PortsOf<(typeof all)[number]>

export const storageContracts: ReadonlyArray<Contract<StoragePorts>> = all

/**
 * Registers the contracts of all storage ports with a runner. Each contract builds `storage` for itself and expects an
 * empty one, such as a new database: some count or claim whatever is stored.
 *
 * @example
 * import * as runner from "node:test"
 * import { layerMemoryPorts } from "@narthex/core"
 * import { runStorageContracts } from "@narthex/core/testing"
 * runStorageContracts(runner, "my database", layerMemoryPorts)
 */
export const runStorageContracts = <E>(
  runner: TestRunner,
  name: string,
  storage: Layer.Layer<StoragePorts, E>
): void => {
  for (const contract of storageContracts) runContract(runner, contract, name, storage)
}

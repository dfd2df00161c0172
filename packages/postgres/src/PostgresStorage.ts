/** All storage ports of the core on one database. */
import { Layer } from "effect"
import { PostgresCredentialStore } from "./access/PostgresCredentialStore.ts"
import { PostgresAccountStore } from "./accounts/PostgresAccountStore.ts"
import { PostgresInvitationStore } from "./accounts/PostgresInvitationStore.ts"
import { PostgresClientRefusalStore } from "./allowlist/PostgresClientRefusalStore.ts"
import { PostgresIpAllowlistStore } from "./allowlist/PostgresIpAllowlistStore.ts"
import { PostgresAuditLog } from "./audit/PostgresAuditLog.ts"
import { PostgresCliGrantStore } from "./cli-login/PostgresCliGrantStore.ts"
import { PostgresEventLog } from "./events/PostgresEventLog.ts"
import { PostgresIdempotencyStore } from "./idempotency/PostgresIdempotencyStore.ts"
import { PostgresApiKeyStore } from "./keys/PostgresApiKeyStore.ts"
import { PostgresRateLimiter } from "./limits/PostgresRateLimiter.ts"
import { PostgresOperationStore } from "./operations/PostgresOperationStore.ts"
import { PostgresOverviewStore } from "./overviews/PostgresOverviewStore.ts"
import { PostgresTransaction } from "./PostgresTransaction.ts"
import { PostgresBranchRoleStore } from "./projects/PostgresBranchRoleStore.ts"
import { PostgresBranchStore } from "./projects/PostgresBranchStore.ts"
import { PostgresComputeDoubtStore } from "./projects/PostgresComputeDoubtStore.ts"
import { PostgresEndpointStore } from "./projects/PostgresEndpointStore.ts"
import { PostgresProjectStore } from "./projects/PostgresProjectStore.ts"
import { PostgresEndedRecordStore } from "./purge/PostgresEndedRecordStore.ts"
import { PostgresQuotaStore } from "./quotas/PostgresQuotaStore.ts"
import { PostgresRegionCatalog } from "./regions/PostgresRegionCatalog.ts"
import { PostgresSessionStore } from "./sessions/PostgresSessionStore.ts"
import { PostgresSigningKeyStore } from "./sessions/PostgresSigningKeyStore.ts"
import { PostgresWebhookStore } from "./webhooks/PostgresWebhookStore.ts"

const stores = Layer.mergeAll(
  PostgresAccountStore.layer,
  PostgresApiKeyStore.layer,
  PostgresAuditLog.layer,
  PostgresBranchRoleStore.layer,
  PostgresBranchStore.layer,
  PostgresClientRefusalStore.layer,
  PostgresCliGrantStore.layer,
  PostgresComputeDoubtStore.layer,
  PostgresCredentialStore.layer,
  PostgresEndedRecordStore.layer,
  PostgresEndpointStore.layer,
  PostgresIdempotencyStore.layer,
  PostgresInvitationStore.layer,
  PostgresIpAllowlistStore.layer,
  PostgresOperationStore.layer,
  PostgresOverviewStore.layer,
  PostgresProjectStore.layer,
  PostgresRateLimiter.layer,
  PostgresQuotaStore.layer,
  PostgresRegionCatalog.layer,
  PostgresSessionStore.layer,
  PostgresSigningKeyStore.layer,
  PostgresWebhookStore.layer
)

/**
 * All storage ports on Postgres.
 *
 * @example
 * import { Database, migrate, PostgresStorage } from "@narthex/postgres"
 * import { Layer, Redacted } from "effect"
 * const url = Redacted.make("postgresql://localhost/narthex")
 * export const storage = PostgresStorage.layer.pipe(
 *   Layer.provide(Layer.effectDiscard(migrate)),
 *   Layer.provideMerge(Database.layer({ url, maxConnections: 10, applicationName: "narthex" }))
 * )
 */
export const PostgresStorage = {
  /** Requires the schema: run `migrate` first. */
  layer: Layer.merge(stores, Layer.provideMerge(PostgresTransaction.layer, PostgresEventLog.layer))
}

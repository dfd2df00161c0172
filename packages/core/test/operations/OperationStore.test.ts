import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { runContract } from "../../testing/contract.ts"
import { operationClaimsContract } from "../../testing/operations/OperationClaims.ts"
import { operationQueuesContract } from "../../testing/operations/OperationQueues.ts"
import { operationStoreContract } from "../../testing/operations/OperationStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, operationStoreContract, "memory", onMemory(OperationStore.layerMemory))
runContract(
  vitest,
  operationClaimsContract,
  "memory",
  onMemory(Layer.mergeAll(AccountStore.layerMemory, OperationStore.layerMemory, QuotaStore.layerMemory))
)
runContract(vitest, operationQueuesContract, "memory", onMemory(OperationStore.layerMemory))

import * as vitest from "vitest"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { runContract } from "../../testing/contract.ts"
import { operationClaimsContract } from "../../testing/operations/OperationClaims.ts"
import { operationQueuesContract } from "../../testing/operations/OperationQueues.ts"
import { operationStoreContract } from "../../testing/operations/OperationStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, operationStoreContract, "memory", onMemory(OperationStore.layerMemory))
runContract(vitest, operationClaimsContract, "memory", onMemory(OperationStore.layerMemory))
runContract(vitest, operationQueuesContract, "memory", onMemory(OperationStore.layerMemory))

import { OperationStore } from "../../src/operations/OperationStore.ts"
import { operationClaimsContract } from "../../testing/operations/OperationClaims.ts"
import { operationStoreContract } from "../../testing/operations/OperationStore.ts"
import { onMemory } from "../onMemory.ts"

operationStoreContract("memory", onMemory(OperationStore.layerMemory))
operationClaimsContract("memory", onMemory(OperationStore.layerMemory))

import { OperationStore } from "../../src/operations/OperationStore.ts"
import { operationStoreContract } from "../../testing/operations/OperationStore.ts"
import { onMemory } from "../onMemory.ts"

operationStoreContract("memory", onMemory(OperationStore.layerMemory))

import * as vitest from "vitest"
import { IdempotencyStore } from "../../src/records/idempotency/IdempotencyStore.ts"
import { runContract } from "../../testing/contract.ts"
import { idempotencyStoreContract } from "../../testing/idempotency/IdempotencyStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, idempotencyStoreContract, "memory", onMemory(IdempotencyStore.layerMemory))

import { IdempotencyStore } from "../../src/idempotency/IdempotencyStore.ts"
import { idempotencyStoreContract } from "../../testing/idempotency/IdempotencyStore.ts"
import { onMemory } from "../onMemory.ts"

idempotencyStoreContract("memory", onMemory(IdempotencyStore.layerMemory))

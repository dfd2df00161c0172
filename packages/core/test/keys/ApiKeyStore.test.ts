import * as vitest from "vitest"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { runContract } from "../../testing/contract.ts"
import { apiKeyStoreContract } from "../../testing/keys/ApiKeyStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, apiKeyStoreContract, "memory", onMemory(ApiKeyStore.layerMemory))

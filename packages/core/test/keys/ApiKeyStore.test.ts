import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { apiKeyStoreContract } from "../../testing/keys/ApiKeyStore.ts"
import { onMemory } from "../onMemory.ts"

apiKeyStoreContract("memory", onMemory(ApiKeyStore.layerMemory))

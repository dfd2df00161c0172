import * as vitest from "vitest"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { runContract } from "../../testing/contract.ts"
import { webhookStoreContract } from "../../testing/webhooks/WebhookStore.ts"

runContract(vitest, webhookStoreContract, "memory", layerMemoryPorts)

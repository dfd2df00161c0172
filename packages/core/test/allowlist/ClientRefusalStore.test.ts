import * as vitest from "vitest"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { clientRefusalStoreContract } from "../../testing/allowlist/ClientRefusalStore.ts"
import { runContract } from "../../testing/contract.ts"

runContract(vitest, clientRefusalStoreContract, "memory", layerMemoryPorts)

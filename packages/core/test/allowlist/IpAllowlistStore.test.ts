import * as vitest from "vitest"
import { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { ipAllowlistStoreContract } from "../../testing/allowlist/IpAllowlistStore.ts"
import { runContract } from "../../testing/contract.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, ipAllowlistStoreContract, "memory", onMemory(IpAllowlistStore.layerMemory))

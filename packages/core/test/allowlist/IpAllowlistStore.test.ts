import { IpAllowlistStore } from "../../src/allowlist/IpAllowlistStore.ts"
import { ipAllowlistStoreContract } from "../../testing/allowlist/IpAllowlistStore.ts"
import { onMemory } from "../onMemory.ts"

ipAllowlistStoreContract("memory", onMemory(IpAllowlistStore.layerMemory))

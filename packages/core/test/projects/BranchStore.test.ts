import * as vitest from "vitest"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { runContract } from "../../testing/contract.ts"
import { branchStoreContract } from "../../testing/projects/BranchStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, branchStoreContract, "memory", onMemory(BranchStore.layerMemory))

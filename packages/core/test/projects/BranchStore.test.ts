import { BranchStore } from "../../src/projects/BranchStore.ts"
import { branchStoreContract } from "../../testing/projects/BranchStore.ts"
import { onMemory } from "../onMemory.ts"

branchStoreContract("memory", onMemory(BranchStore.layerMemory))

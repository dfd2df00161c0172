import { BranchRoleStore } from "../../src/projects/BranchRoleStore.ts"
import { branchRoleStoreContract } from "../../testing/projects/BranchRoleStore.ts"
import { onMemory } from "../onMemory.ts"

branchRoleStoreContract("memory", onMemory(BranchRoleStore.layerMemory))

import * as vitest from "vitest"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { runContract } from "../../testing/contract.ts"
import { branchRoleStoreContract } from "../../testing/projects/BranchRoleStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, branchRoleStoreContract, "memory", onMemory(BranchRoleStore.layerMemory))

import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/projects/BranchStore.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/projects/ProjectStore.ts"
import { QuotaStore } from "../../src/quotas/QuotaStore.ts"
import { runContract } from "../../testing/contract.ts"
import { branchDiskContract } from "../../testing/quotas/BranchDisk.ts"
import { quotaStoreContract } from "../../testing/quotas/QuotaStore.ts"
import { onMemory } from "../onMemory.ts"

const stores = onMemory(
  Layer.mergeAll(
    AccountStore.layerMemory,
    BranchRoleStore.layerMemory,
    BranchStore.layerMemory,
    EndpointStore.layerMemory,
    InvitationStore.layerMemory,
    OperationStore.layerMemory,
    ProjectStore.layerMemory,
    QuotaStore.layerMemory
  )
)

runContract(vitest, quotaStoreContract, "memory", stores)
runContract(vitest, branchDiskContract, "memory", stores)

import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
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

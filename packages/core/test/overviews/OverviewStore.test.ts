import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { OverviewStore } from "../../src/records/overviews/OverviewStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { runContract } from "../../testing/contract.ts"
import { overviewStoreContract } from "../../testing/overviews/OverviewStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  overviewStoreContract,
  "memory",
  onMemory(
    Layer.provideMerge(
      OverviewStore.layerMemory,
      Layer.mergeAll(
        AccountStore.layerMemory,
        BranchStore.layerMemory,
        EndpointStore.layerMemory,
        InvitationStore.layerMemory,
        IpAllowlistStore.layerMemory,
        OperationStore.layerMemory,
        ProjectStore.layerMemory,
        QuotaStore.layerMemory
      )
    )
  )
)

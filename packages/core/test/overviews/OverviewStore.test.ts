import { Layer } from "effect"
import * as vitest from "vitest"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { IpAllowlistStore } from "../../src/allowlist/IpAllowlistStore.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { OverviewStore } from "../../src/overviews/OverviewStore.ts"
import { BranchStore } from "../../src/projects/BranchStore.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/projects/ProjectStore.ts"
import { QuotaStore } from "../../src/quotas/QuotaStore.ts"
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

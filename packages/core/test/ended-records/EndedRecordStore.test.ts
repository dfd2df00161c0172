import { Layer } from "effect"
import * as vitest from "vitest"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import { EndedRecordStore } from "../../src/ended-records/EndedRecordStore.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/projects/BranchStore.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/projects/ProjectStore.ts"
import { runContract } from "../../testing/contract.ts"
import { endedRecordStoreContract } from "../../testing/ended-records/EndedRecordStore.ts"
import { onMemory } from "../onMemory.ts"

const stores = Layer.mergeAll(
  ApiKeyStore.layerMemory,
  BranchRoleStore.layerMemory,
  BranchStore.layerMemory,
  EndedRecordStore.layerMemory,
  EndpointStore.layerMemory,
  InvitationStore.layerMemory,
  OperationStore.layerMemory,
  ProjectStore.layerMemory
)

runContract(vitest, endedRecordStoreContract, "memory", onMemory(stores))

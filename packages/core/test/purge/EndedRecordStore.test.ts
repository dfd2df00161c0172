import { Layer } from "effect"
import * as vitest from "vitest"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { EndedRecordStore } from "../../src/records/purge/EndedRecordStore.ts"
import { runContract } from "../../testing/contract.ts"
import { endedRecordStoreContract } from "../../testing/purge/EndedRecordStore.ts"
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

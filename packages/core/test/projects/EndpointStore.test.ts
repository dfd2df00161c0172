import { Layer } from "effect"
import * as vitest from "vitest"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { runContract } from "../../testing/contract.ts"
import { endpointStoreContract } from "../../testing/projects/EndpointStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  endpointStoreContract,
  "memory",
  onMemory(Layer.merge(EndpointStore.layerMemory, ProjectStore.layerMemory))
)

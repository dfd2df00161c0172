import { Layer } from "effect"
import * as vitest from "vitest"
import { ComputeDoubtStore } from "../../src/records/projects/ComputeDoubtStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { runContract } from "../../testing/contract.ts"
import { computeDoubtStoreContract } from "../../testing/projects/ComputeDoubtStore.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  computeDoubtStoreContract,
  "memory",
  onMemory(Layer.merge(ComputeDoubtStore.layerMemory, EndpointStore.layerMemory))
)

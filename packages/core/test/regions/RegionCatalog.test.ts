import { Layer } from "effect"
import * as vitest from "vitest"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { RegionCatalog } from "../../src/records/regions/RegionCatalog.ts"
import { runContract } from "../../testing/contract.ts"
import { regionCatalogContract } from "../../testing/regions/RegionCatalog.ts"
import { onMemory } from "../onMemory.ts"

runContract(
  vitest,
  regionCatalogContract,
  "memory",
  onMemory(Layer.mergeAll(EndpointStore.layerMemory, ProjectStore.layerMemory, RegionCatalog.layerMemory))
)

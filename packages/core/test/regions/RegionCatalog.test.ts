import * as vitest from "vitest"
import { RegionCatalog } from "../../src/records/regions/RegionCatalog.ts"
import { runContract } from "../../testing/contract.ts"
import { regionCatalogContract } from "../../testing/regions/RegionCatalog.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, regionCatalogContract, "memory", onMemory(RegionCatalog.layerMemory))

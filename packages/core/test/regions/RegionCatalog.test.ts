import { RegionCatalog } from "../../src/regions/RegionCatalog.ts"
import { regionCatalogContract } from "../../testing/regions/RegionCatalog.ts"
import { onMemory } from "../onMemory.ts"

regionCatalogContract("memory", onMemory(RegionCatalog.layerMemory))

import { layerMemoryComputes } from "../../src/computes/MemoryComputes.ts"
import { computeDriverContract } from "../../testing/computes/ComputeDriver.ts"

computeDriverContract("memory", layerMemoryComputes)

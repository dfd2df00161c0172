import * as vitest from "vitest"
import { layerMemoryComputes } from "../../src/computes/MemoryComputes.ts"
import { computeDriverContract } from "../../testing/computes/ComputeDriver.ts"
import { runContract } from "../../testing/contract.ts"

runContract(vitest, computeDriverContract, "memory", layerMemoryComputes)

import * as vitest from "vitest"
import { layerMemoryComputes } from "../../src/records/computes/MemoryComputes.ts"
import { computeDriverContract } from "../../testing/computes/ComputeDriver.ts"
import { runContract } from "../../testing/contract.ts"

runContract(vitest, computeDriverContract, "memory", layerMemoryComputes)

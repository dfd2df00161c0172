import * as vitest from "vitest"
import { RateLimiter } from "../../src/records/limits/RateLimiter.ts"
import { runContract } from "../../testing/contract.ts"
import { rateLimiterContract } from "../../testing/limits/RateLimiter.ts"
import { onMemory } from "../onMemory.ts"

runContract(vitest, rateLimiterContract, "memory", onMemory(RateLimiter.layerMemory))

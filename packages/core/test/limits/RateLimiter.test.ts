import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { rateLimiterContract } from "../../testing/limits/RateLimiter.ts"
import { onMemory } from "../onMemory.ts"

rateLimiterContract("memory", onMemory(RateLimiter.layerMemory))

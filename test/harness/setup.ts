/**
 * Runs in each worker before each test file: seeds random choices, and moves the platform's clock if the run requests
 * it.
 */
import "./clock.ts"
import { beforeEach, expect, inject } from "vitest"
import { randomFrom } from "./seed.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly seed: string
    /** A fault is planted: which test fails matters, not the smallest input with which it does. */
    readonly planted?: boolean
  }
}

const seed = inject("seed")
const reseed = (name: string) => {
  Math.random = randomFrom(`${seed} ${name}`)
}

if (inject("planted") === true) {
  const { Arbitrary } = await import("effect")
  Arbitrary.configureGlobal({ check: { maxShrinks: 0 } })
}

reseed(expect.getState().testPath ?? "")
beforeEach(({ task }) => reseed(task.fullName))

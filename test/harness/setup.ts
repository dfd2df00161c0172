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
  }
}

const seed = inject("seed")
const reseed = (name: string) => {
  Math.random = randomFrom(`${seed} ${name}`)
}

reseed(expect.getState().testPath ?? "")
beforeEach(({ task }) => reseed(task.fullName))

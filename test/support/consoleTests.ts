/** The common part of the console's browser tests: the shared platform and a connection to the shared browser. */
import { afterAll, beforeAll } from "@effect/vitest"
import type { Browser } from "playwright-core"
import { sharedBrowser } from "../harness/browser.ts"
import { SharedPlatform } from "./SharedPlatform.ts"

/** Milliseconds. The first file of a run waits for the build. */
const limit = 600_000

export interface ConsoleTests {
  readonly platform: SharedPlatform
  readonly browser: Browser
}

/** To be called in a `describe`: both are there from its first test to its last. */
export const consoleTests = (): ConsoleTests => {
  let held: ConsoleTests | undefined
  const get = () => {
    if (held === undefined) throw new Error("The platform and the browser are there when the tests run.")
    return held
  }
  beforeAll(async () => {
    held = { platform: await SharedPlatform.get(), browser: await sharedBrowser() }
  }, limit)
  afterAll(() => held?.browser.close())
  return {
    get platform() {
      return get().platform
    },
    get browser() {
      return get().browser
    }
  }
}

/** The shared Chromium of the run. Each test opens its own contexts in it: no cookie or page is shared. */
import { type Browser, chromium } from "playwright-core"
import { resource } from "./resource.ts"

/** A connection to the shared Chromium. Closing it closes the contexts that were opened through it, not the browser. */
export const sharedBrowser = async (): Promise<Browser> => {
  const { endpoint } = await resource<{ readonly endpoint: string }>("chromium")
  return chromium.connect(endpoint)
}

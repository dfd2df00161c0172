/** The shared Chromium of the run. Each test opens its own contexts in it: no cookie or page is shared. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core"
import { resource } from "./resource.ts"

/** A connection to the shared Chromium. Closing it closes the contexts that were opened through it, not the browser. */
export const sharedBrowser = async (): Promise<Browser> => {
  const { endpoint } = await resource<{ readonly endpoint: string }>("chromium")
  return chromium.connect(endpoint)
}

/**
 * A context whose pages prefer reduced motion.
 *
 * Pitfall: to rely on `--force-prefers-reduced-motion`. Playwright resets the preference in each context, and the
 * animation between two pages of the console then costs half a second of CPU, because it is drawn without a GPU.
 * `test/walk` signs in with animations.
 */
export const newContext = (browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> =>
  browser.newContext({ reducedMotion: "reduce", ...options })

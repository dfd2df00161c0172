/** The options with which tests start Debian's Chromium: headless, without animations and without background requests. */
import type { LaunchOptions } from "playwright-core"
import { chromiumPath } from "./requirements.ts"

export const chromiumLaunch = (): LaunchOptions => ({
  executablePath: chromiumPath() ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--force-prefers-reduced-motion",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync"
  ]
})

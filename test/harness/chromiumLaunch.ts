/** The options with which tests start Debian's Chromium: headless and without background requests. */
import type { LaunchOptions } from "playwright-core"
import { chromiumPath } from "./requirements.ts"

export const chromiumLaunch = (): LaunchOptions => ({
  executablePath: chromiumPath() ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync"
  ]
})

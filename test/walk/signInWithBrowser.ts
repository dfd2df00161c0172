/** The steps of a person after `narthex login` has opened the browser. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { until } from "../harness/eventually.ts"

/** A command for `$BROWSER` that stores its address. */
export const browserCommand = (folder: string) => {
  const command = join(folder, "browser")
  const opened = join(folder, "opened")
  writeFileSync(command, `#!/bin/sh\nprintf %s "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`)
  chmodSync(command, 0o755)
  const address = async (): Promise<string> => {
    await until("narthex login to open the browser", () => existsSync(opened))
    return readFileSync(opened, "utf8")
  }
  return { command, address }
}

/** Milliseconds. Playwright's limit for a page. */
const pageLimit = 45_000

/** Opens the address, signs in at the first provider, and authorizes the command line. */
export const signInWithBrowser = async (browser: Browser, address: string, email: string): Promise<void> => {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(pageLimit)
    await page.goto(address)
    const provider = "Development One"
    await page
      .getByRole("link", { name: provider })
      .or(page.getByRole("button", { name: provider }))
      .first()
      .click()
    await page.getByLabel("Email address").fill(email)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("button", { name: "Authorize" }).click()
    await page.getByText(/close this (window|tab|page)/i).waitFor()
  } finally {
    await context.close()
  }
}

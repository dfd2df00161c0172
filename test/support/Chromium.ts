/** Debian's Chromium, driven by playwright-core. Without it browser tests say so and are skipped; in CI that is a failure. */
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { assert } from "@effect/vitest"
import { type Browser, chromium, type Page } from "playwright-core"

const executablePath = "/usr/bin/chromium"

export const chromiumIsThere = existsSync(executablePath)

/** Shall browser tests run? In CI they must, so there they run and fail when Chromium is missing. */
export const browserTests = chromiumIsThere || process.env["CI"] === "true"

if (!browserTests)
  console.warn(`Browser tests are skipped: there is no ${executablePath}. Debian's package is "chromium".`)

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
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

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** No violation that axe knows of; `known` are rules that a page breaks on purpose. */
export const assertAccessible = async (page: Page, known: ReadonlyArray<string> = []): Promise<void> => {
  await page.evaluate(axe)
  const found: ReadonlyArray<readonly [rule: string, html: ReadonlyArray<string>]> = await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))"
  )
  const violations = found.filter(([rule]) => !known.includes(rule))
  assert.deepStrictEqual(violations, [], `axe on ${page.url()}`)
}

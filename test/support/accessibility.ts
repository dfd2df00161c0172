/** Checks a page with axe, a library of accessibility rules. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Fails for violations that axe finds. `known` are rules that the page violates on purpose. */
export const assertAccessible = async (page: Page, known: ReadonlyArray<string> = []): Promise<void> => {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe)
  const found: ReadonlyArray<readonly [rule: string, html: ReadonlyArray<string>]> = await page.evaluate(
    "axe.run({ resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))"
  )
  const violations = found.filter(([rule]) => !known.includes(rule))
  assert.deepStrictEqual(violations, [], `axe on ${page.url()}`)
}

/**
 * Checks of every page at every width and in both themes (docs/design/console.md W47): nothing pans sideways, no
 * control is outside its box, and axe finds no violation.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { long } from "../harness/long.ts"
import { assertAccessible } from "./accessibility.ts"

const widths = [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 }
] as const

const themes: ReadonlyArray<"light" | "dark"> = ["light", "dark"]

/** A folder for screenshots; `undefined`: none are made. `npm run console:screenshots` sets it. */
const folder = process.env["NARTHEX_SCREENSHOTS"]

/** In the browser: how far the page pans, and the visible controls that are cut off or outside the window. */
const measure = () => {
  const outside = [...document.querySelectorAll("a, button, input, select, textarea, summary")].filter((control) => {
    const box = control.getBoundingClientRect()
    const hidden = control.closest("[popover]:not(:popover-open), dialog:not([open]), .hidden, .skip") !== null
    const inSidebar = control.closest(".side") !== null && getComputedStyle(control).display !== "none"
    if (box.width === 0 || box.height === 0 || (hidden && !inSidebar) || !control.checkVisibility()) return false
    if (box.left < -1 || box.right > innerWidth + 1) return true
    for (let around = control.parentElement; around !== null; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === "visible") continue
      const frame = around.getBoundingClientRect()
      if (box.right > frame.right + 1 || box.left < frame.left - 1) return true
    }
    return false
  })
  return {
    pans: document.documentElement.scrollWidth - innerWidth,
    outside: outside.map((control) => control.outerHTML.slice(0, 200))
  }
}

export interface PageChecksOptions {
  /** Rules of axe that the page violates on purpose. */
  readonly known?: ReadonlyArray<string>
}

/** The themes in which a page is checked: both, or in the short form one that the name of the page chooses. */
const themesOf = (name: string): typeof themes =>
  long || folder !== undefined ? themes : [name.length % 2 === 0 ? "light" : "dark"]

/**
 * Checks the page that is open, in each width and theme. `name` is that of its screenshots.
 *
 * Themes differ in colours alone, which axe sees. The short form therefore takes one theme for each page, and axe runs
 * once in each theme: dark and narrow, light and wide.
 */
export const assertPresentable = async (page: Page, name: string, options: PageChecksOptions = {}): Promise<void> => {
  for (const colorScheme of themesOf(name)) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    for (const size of widths) {
      await page.setViewportSize(size)
      const found = await page.evaluate(measure)
      assert.deepStrictEqual(found, { pans: Math.min(found.pans, 0), outside: [] }, `${name}, ${size.width} px`)
      if (size.width === (colorScheme === "dark" ? 390 : 1440)) await assertAccessible(page, options.known)
      if (folder === undefined) continue
      await mkdir(folder, { recursive: true })
      await page.screenshot({ path: join(folder, `${name}-${size.width}-${colorScheme}.png`), fullPage: true })
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

/**
 * A person without a mouse: keys only. At each stop the focus must be seen, be on the screen, and follow the reading
 * order.
 */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { until } from "../harness/eventually.ts"

/** The element that has the focus. */
export interface Stop {
  /** The label of the element, or its text. */
  readonly name: string
  /** Whether an outline that is not transparent surrounds it. */
  readonly outlined: boolean
  /** Whether a part of it is in the window, and no other element covers its middle. */
  readonly seen: boolean
  /** The id of the dialog around it. */
  readonly dialog: string | null
  /** Whether it is in an open popover. */
  readonly popover: boolean
  /**
   * Whether a reader comes to it after the stop before, which is left of it or above; `null`: there is none to compare.
   */
  readonly follows: boolean | null
}

/** In the browser. Keeps the stop for the next look: a page that scrolls moves both. */
const look = (): Stop | null => {
  const shared = globalThis as { lastStop?: Element | null }
  const element = document.activeElement
  const before = shared.lastStop
  shared.lastStop = element
  if (element === null || element === document.body) return null
  const { bottom, left, right, top } = element.getBoundingClientRect()
  const style = getComputedStyle(element)
  const label = "labels" in element ? (element as HTMLInputElement).labels?.[0] : null
  const text = element.getAttribute("aria-label") ?? label?.textContent ?? element.textContent ?? ""
  const middle = document.elementFromPoint(
    Math.min(Math.max((left + right) / 2, 0), innerWidth - 1),
    Math.min(Math.max((top + bottom) / 2, 0), innerHeight - 1)
  )
  const around = (it: Element) => it.closest(":popover-open, dialog")
  const other = before === element || before?.checkVisibility() !== true || around(before) !== around(element)
  const was = other ? null : before.getBoundingClientRect()
  return {
    name: text.replaceAll(/\s+/g, " ").trim(),
    outlined:
      style.outlineStyle !== "none" &&
      Number.parseFloat(style.outlineWidth) >= 1 &&
      !/, 0\)$|^transparent$/.test(style.outlineColor),
    seen: bottom > 0 && top < innerHeight && (element.contains(middle) || middle?.contains(element) === true),
    dialog: element.closest("dialog")?.id ?? null,
    popover: element.closest(":popover-open") !== null,
    follows: was === null || before === document.body ? null : top >= was.bottom - 1 || left >= was.left
  }
}

/** Presses of Tab after which a control counts as out of reach. */
const farthest = 80

/** The first stop of a page. */
export const start = "Skip to content"

export class Keyboard {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** The element that has the focus; `null`: the page itself. */
  focus(): Promise<Stop | null> {
    return this.page.evaluate(look)
  }

  /** A key, as `page.keyboard.press` names it. */
  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key)
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text)
  }

  /**
   * One stop further, which must be seen. `null`: the end of the page, from where the browser's own controls follow.
   */
  async tab(key: "Tab" | "Shift+Tab" = "Tab"): Promise<Stop | null> {
    await this.press(key)
    const stop = await this.focus()
    if (stop === null) return null
    const where = `“${stop.name}” on ${this.page.url()}`
    assert.isTrue(stop.outlined, `${where} has no visible focus`)
    assert.isTrue(stop.seen, `${where} has the focus out of sight`)
    if (key === "Tab" && stop.name !== start)
      assert.notStrictEqual(stop.follows, false, `${where} is before the last stop, against the reading order`)
    return stop
  }

  /** Goes on with Tab to a control, around the page if need be. */
  async to(name: string | RegExp, key: "Tab" | "Shift+Tab" = "Tab"): Promise<Stop> {
    const passed: Array<string> = []
    while (passed.length < farthest) {
      const stop = await this.tab(key)
      if (stop !== null && (typeof name === "string" ? stop.name === name : name.test(stop.name))) return stop
      passed.push(stop?.name ?? "the end")
    }
    return assert.fail(`Tab does not reach ${name} on ${this.page.url()}, only: ${passed.join(" · ")}`)
  }

  /** The focus reaches the control by itself, as after an action. */
  async lands(name: string | RegExp): Promise<void> {
    await until(
      `the focus to be on ${name}`,
      async () => {
        // A navigation may be under way.
        const found = (await this.focus().catch(() => null))?.name ?? ""
        return typeof name === "string" ? found === name : name.test(found)
      },
      { every: 50 }
    )
  }

  /** The heading of the page that is open. */
  async heading(name: string): Promise<void> {
    await this.page.getByRole("heading", { name, level: 1, exact: true }).waitFor()
  }
}

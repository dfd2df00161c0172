/** The complaints of a page in its console: errors of scripts and of the browser. */
import type { Page } from "playwright-core"

/**
 * Chromium reports an animation between two pages that did not run, because the next navigation came first or the page
 * was drawn already. It depends on how busy the machine is, and nothing is wrong with the page.
 */
const skippedAnimation = /Transition was (skipped|aborted)/

/** The errors of the page from now on, in a list that grows. */
export const complaintsOf = (page: Page): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const add = (complaint: string) => {
    if (!skippedAnimation.test(complaint)) complaints.push(complaint)
  }
  page.on("pageerror", (error) => add(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error") add(message.text())
  })
  return complaints
}

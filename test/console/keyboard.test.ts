/**
 * The console with the keyboard alone, from sign-in to a connected branch (docs/design/console.md W48): nothing is
 * clicked or filled in. Every stop of Tab is checked for a visible focus and for the reading order.
 */
import { execFile } from "node:child_process"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { BrowserContext } from "playwright-core"
import { newContext } from "../harness/browser.ts"
import { until } from "../harness/eventually.ts"
import { complaintsOf } from "../support/complaints.ts"
import { consoleTests } from "../support/consoleTests.ts"
import { Keyboard, start } from "../support/Keyboard.ts"

/** Milliseconds to wait for a page, an element or psql. */
const limit = 45_000

/** The output of psql, or its complaint. */
const psql = (uri: string, statement: string) =>
  new Promise<string>((resolve) => {
    const env = { ...process.env, PGCONNECT_TIMEOUT: "40" }
    execFile("psql", ["-XAtc", statement, uri], { timeout: limit, env }, (_, stdout, stderr) =>
      resolve((stdout + stderr).trim())
    )
  })

describe("the console without a mouse", { tags: ["chromium", "psql"], timeout: 240_000 }, () => {
  const shared = consoleTests()
  let context: BrowserContext
  let person: Keyboard
  let complaints: ReadonlyArray<string> = []
  let failed = false

  beforeAll(async () => {
    context = await newContext(shared.browser, { viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    page.setDefaultTimeout(limit)
    complaints = complaintsOf(page)
    person = new Keyboard(page)
    await page.goto(shared.platform.ready.console)
  })

  afterAll(() => context?.close())

  const step = (name: string, work: () => Promise<void>) =>
    it(name, async () => {
      assert.isFalse(failed, "An earlier step failed, and this one goes on from where it ended.")
      failed = true
      await shared.platform.explain(work)
      assert.deepStrictEqual(complaints, [])
      failed = false
    })

  /** The regions of the page in the order in which Tab reaches them, once around. */
  const regionsOfStops = async (): Promise<ReadonlyArray<string>> => {
    const regions: Array<string> = []
    for (;;) {
      const stop = await person.tab()
      if (stop === null || (stop.name === start && regions.length > 0)) return regions
      const region = await person.page.evaluate(
        () => document.activeElement?.closest(".skip, .side, .top, main")?.classList.item(0) ?? "main"
      )
      if (regions.at(-1) !== region) regions.push(region)
    }
  }

  step("a person signs in, and the first stop of each page skips the navigation", async () => {
    assert.strictEqual((await person.tab())?.name, "Skip to content")
    await person.to("Sign in to start")
    await person.press("Enter")
    await person.heading("Sign in")
    await person.to("Continue with Development One")
    await person.press("Enter")
    await person.lands("Email address")
    await person.type("ada@keyboard.example.com")
    await person.press("Enter")
    await person.heading("Projects")
    assert.deepStrictEqual(await regionsOfStops(), ["skip", "side", "top", "main"])
    await person.to("Skip to content")
    await person.press("Enter")
    assert.strictEqual((await person.tab())?.name, "New project")
  })

  step("a created project and a created branch are announced where the keyboard goes on", async () => {
    await person.press("Enter")
    await person.heading("New project")
    await person.to("Name")
    await person.type("shop")
    await person.press("Enter")
    await person.heading("shop")
    await person.lands(/^The project was created/)
    // The notice goes when the project is ready; the focus stays in the page's content.
    await person.page.locator("#project-state").getByText("suspended, wakes on connect").waitFor()
    await until("the notice to go", async () => (await person.page.locator("[data-passing]").count()) === 0)
    assert.isNotNull(await person.focus())
    assert.strictEqual((await person.tab())?.name, "Copy the project's ID")
    await person.to("New branch")
    await person.press("Enter")
    await person.heading("New branch")
    await person.to("Name")
    await person.type("preview")
    await person.to("Protected")
    await person.to("Create branch")
    await person.press("Enter")
    await person.heading("preview")
    await person.lands(/^The branch was created/)
    await person.page.locator("#branch-state").getByText("ready").waitFor()
  })

  step("a password is made for the branch that the arrows chose, and psql connects with it", async () => {
    await person.to("Overview")
    await person.press("Enter")
    await person.heading("shop")
    await person.to("Branch")
    await person.type("preview")
    await person.to("as")
    await person.press("ArrowDown")
    await person.press("ArrowUp")
    await person.to("psql")
    await person.press("ArrowRight")
    await person.lands(".env")
    await person.press("Enter")
    await person.page.waitForURL((url) => url.searchParams.get("tab") === "env")
    await person.lands(".env")
    await person.to("Create password", "Shift+Tab")
    await person.press("Enter")
    await person.lands(/^The password is shown only once/)
    assert.strictEqual((await person.tab())?.name, ".env")
    assert.strictEqual((await person.tab())?.name, "Copy the lines for .env")
    const uri = (await person.page.locator("#lines-uri").textContent()) ?? ""
    assert.strictEqual(
      await psql(uri, "create table kept as select 42 as answer; select answer from kept"),
      "SELECT 1\n42"
    )
    await person.to("I have stored it")
    await person.press("Enter")
    await person.heading("shop")
  })

  step("the palette opens, chooses and closes, and returns the focus", async () => {
    await person.to("Endpoints")
    await person.press("Control+k")
    await person.lands("Place")
    await person.press("Tab")
    assert.oneOf((await person.focus())?.dialog ?? "palette", ["palette"])
    await person.press("Escape")
    await person.lands("Endpoints")
    await person.press("Control+k")
    await person.lands("Place")
    const places = person.page.getByRole("dialog", { name: "Go to" }).getByRole("option")
    await places.first().waitFor()
    await person.type("operations")
    await person.press("ArrowDown")
    await person.press("ArrowUp")
    await person.press("Enter")
    await person.heading("Operations")
  })

  step("a menu opens and is walked with arrows, closes with Escape and when Tab leaves it", async () => {
    await person.to(/Organization: /)
    const opener = (await person.focus())?.name ?? ""
    await person.press("ArrowDown")
    await person.lands(/^ada.*owner$/)
    await person.press("ArrowUp")
    await person.lands("New organization")
    await person.press("ArrowDown")
    await person.lands(/^ada.*owner$/)
    await person.press("End")
    await person.lands("New organization")
    await person.press("Home")
    await person.press("Escape")
    await person.lands(opener)
    assert.strictEqual(await person.page.locator(":popover-open").count(), 0)
    await person.press("Enter")
    await person.to("New organization")
    assert.strictEqual((await person.tab())?.name, "Projects")
    assert.strictEqual(await person.page.locator(":popover-open").count(), 0)
  })

  step("a region that changes keeps the focus on the link that had it", async () => {
    await person.to(/^Branches/)
    await person.press("Enter")
    await person.heading("Branches")
    await person.to("preview")
    const other = new Keyboard(await context.newPage())
    other.page.setDefaultTimeout(limit)
    await other.page.goto(person.page.url().replace("/branches", "/endpoints"))
    const row = person.page.getByRole("row").filter({ has: person.page.getByRole("link", { name: "preview" }) })
    const state = (await row.getByText("active").isVisible()) ? "Suspend" : "Start"
    await other.to(new RegExp(`^${state} the .* of preview$`))
    await other.press("Enter")
    await other.lands(/^The (start|suspension) of the endpoint/)
    await row.getByText(state === "Start" ? "active" : "suspended").waitFor()
    await person.lands("preview")
    await other.page.close()
  })

  step("a region that changes gives the focus of a control that is gone to no other control", async () => {
    await person.to(/^Endpoints/)
    await person.press("Enter")
    await person.heading("Endpoints")
    const { name } = await person.to(/^(Start|Suspend) the .* of preview$/)
    const other = new Keyboard(await context.newPage())
    other.page.setDefaultTimeout(limit)
    await other.page.goto(person.page.url())
    await other.to(name)
    await other.press("Enter")
    await other.lands(/^The (start|suspension) of the endpoint/)
    const opposite = name.replace(/^\w+/, (verb) => (verb === "Start" ? "Suspend" : "Start"))
    await person.page.getByRole("button", { name: opposite }).waitFor()
    assert.strictEqual(await person.page.evaluate(() => document.activeElement?.id), "endpoints")
    await other.page.close()
  })

  step("the answer to a question that the address keeps has the focus", async () => {
    await person.to("Allowlist")
    await person.press("Enter")
    await person.heading("Allowlist")
    await person.to("Why was I refused?")
    await person.type("198.51.100.9")
    await person.press("Enter")
    await person.lands(/^198\.51\.100\.9 may connect/)
    await person.to("Branches")
    await person.press("Enter")
    await person.heading("Branches")
    await person.to("preview")
  })

  step("a dialog keeps the focus, and returns it to its button or to the button of its menu", async () => {
    await person.press("Enter")
    await person.heading("preview")
    await person.to("Delete preview")
    await person.press("Enter")
    await person.lands("Type preview to confirm")
    for (let stop = 0; stop < 6; stop++) assert.include(["delete-branch", undefined], (await person.tab())?.dialog)
    await person.press("Escape")
    await person.lands("Delete preview")
    // A question that nothing has to be typed for begins at the answer that changes nothing.
    await person.to("Reset preview", "Shift+Tab")
    await person.press("Enter")
    await person.lands("Cancel")
    await person.press("Enter")
    await person.lands("Reset preview")
    await person.page.goto(`${shared.platform.ready.console}/dev/components`)
    await person.to("Actions of main")
    await person.press("ArrowUp")
    await person.lands("Delete")
    await person.press("Enter")
    await until("the dialog to have the focus", async () => (await person.focus())?.dialog === "example-typed")
    await person.press("Escape")
    await person.lands("Actions of main")
  })

  step("on a phone the drawer is entered with Tab, and closes with Escape and when Tab leaves it", async () => {
    await person.page.setViewportSize({ width: 390, height: 844 })
    await person.page.goto(`${shared.platform.ready.console}/projects`)
    assert.strictEqual((await person.tab())?.name, "Skip to content")
    assert.strictEqual((await person.tab())?.name, "Navigation")
    await person.press("Enter")
    assert.match((await person.tab())?.name ?? "", /Organization: /)
    await person.press("Escape")
    await person.lands("Navigation")
    await person.press("Enter")
    await person.to(/Account: /)
    assert.isFalse((await person.tab())?.popover)
    assert.strictEqual(await person.page.locator(":popover-open").count(), 0)
  })
})

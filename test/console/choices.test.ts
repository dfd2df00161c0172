/** Choices that show something at once, with a real browser: filters, questions and forms keep the rest of the page. */
import { assert, describe, it } from "@effect/vitest"
import type { BrowserContextOptions, Page } from "playwright-core"
import { newContext } from "../harness/browser.ts"
import { assertAccessible } from "../support/accessibility.ts"
import { complaintsOf } from "../support/complaints.ts"
import { consoleTests } from "../support/consoleTests.ts"

/** Milliseconds to wait for a page or an element. */
const pageLimit = 45_000

describe("choices in the console", { tags: ["chromium"], timeout: 240_000 }, () => {
  const shared = consoleTests()

  /** Signed in as this person, on the page of a new project. */
  const inProject = async (email: string, options: BrowserContextOptions, work: (page: Page) => Promise<void>) => {
    const context = await newContext(shared.browser, options)
    try {
      const page = await context.newPage()
      const complaints = complaintsOf(page)
      page.setDefaultTimeout(pageLimit)
      await shared.platform.explain(async () => {
        await page.goto(`${shared.platform.ready.console}/sign-in/dev-one`)
        await page.getByLabel("Email address").fill(email)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page
          .getByRole("link", { name: /new project/i })
          .first()
          .click()
        await page.getByLabel("Name").fill("shop")
        await page.getByRole("button", { name: "Create project" }).click()
        await page.getByRole("heading", { name: "shop", level: 1 }).waitFor()
        await work(page)
      })
      assert.deepStrictEqual(complaints, [])
    } finally {
      await context.close()
    }
  }

  const place = (page: Page, name: string) =>
    page.getByRole("navigation").getByRole("link", { name: new RegExp(`^${name}`) })

  it("a filter of operations acts on the choice, stays in the address, and the page goes on being live", () =>
    inProject("filters@choices.example.com", {}, async (page) => {
      await place(page, "Operations").click()
      await page.getByRole("rowheader", { name: /created project shop/ }).waitFor()
      assert.strictEqual(await page.getByRole("button", { name: "Show" }).count(), 0)
      const tops = await page
        .locator("#operations-filter select")
        .evaluateAll((all) => all.map((it) => it.getBoundingClientRect().top))
      assert.deepStrictEqual([tops.length, new Set(tops).size], [4, 1], "the filters are one row")
      await page.getByLabel("Action").focus()
      await page.getByLabel("Action").selectOption({ label: "start a compute" })
      await page.getByText("No operation matches").waitFor()
      assert.strictEqual(await page.evaluate<string>("document.activeElement.id"), "filter-action")
      assert.strictEqual(new URL(page.url()).search, "?action=start_compute")
      await page.locator("#live").getByText("Live", { exact: true }).waitFor()
      await assertAccessible(page)
      const other = await page.context().newPage()
      await other.goto(page.url().replace(/\/operations.*/, ""))
      await other.getByRole("button", { name: "Start" }).click()
      await other.close()
      await page.getByRole("rowheader", { name: /started main/ }).waitFor()
      assert.strictEqual(await page.getByRole("rowheader").count(), 1)
      await page.getByRole("link", { name: "Show all" }).click()
      await page.getByRole("rowheader", { name: /created project shop/ }).waitFor()
    }))

  it("a search of projects shows those that match, and a link shows all of them again", () =>
    inProject("search@choices.example.com", {}, async (page) => {
      await place(page, "Projects").first().click()
      await page.getByRole("rowheader", { name: "shop" }).waitFor()
      await page.getByLabel("Part of the name").fill("garden")
      await page.keyboard.press("Enter")
      await page.getByText("No project has such a name").waitFor()
      assert.strictEqual(await page.evaluate<string>("document.activeElement.id"), "project-name")
      await assertAccessible(page)
      await page.getByRole("link", { name: "Show all", exact: true }).click()
      await page.getByRole("rowheader", { name: "shop" }).waitFor()
    }))

  it("a question about an address is answered beside it, and leaves the rule that is being written alone", () =>
    inProject("asks@choices.example.com", {}, async (page) => {
      await place(page, "Allowlist").click()
      await page.getByLabel("Label").fill("The office")
      await page.getByLabel("Why was I refused?").fill("198.51.100.9")
      await page.getByRole("button", { name: "Check", exact: true }).click()
      await page.getByText("198.51.100.9 may connect").waitFor()
      assert.strictEqual(await page.getByLabel("Label").inputValue(), "The office")
      await page.getByLabel("Why was I refused?").fill("nonsense")
      await page.keyboard.press("Enter")
      await page.getByText("Enter one address without port").waitFor()
      assert.strictEqual(await page.getByLabel("Label").inputValue(), "The office")
      await assertAccessible(page)
    }))

  it("a program that is chosen while the page of a branch is on its way stays chosen", () =>
    inProject("late@choices.example.com", {}, async (page) => {
      let arrived = () => {}
      const held = new Promise<void>((resolve) => {
        arrived = resolve
      })
      await page.route(/access=read_only/, async (route) => {
        if (!/tab=node/.test(route.request().url())) await held
        await route.continue()
      })
      await page.getByLabel("as", { exact: true }).selectOption({ label: "read only" })
      await page.getByRole("radio", { name: "Node" }).check()
      await page.waitForURL(/tab=node/)
      arrived()
      await page.locator("#connect:not([aria-busy])").waitFor()
      assert.isTrue(await page.getByRole("radio", { name: "Node" }).isChecked())
      assert.strictEqual(await page.getByLabel("as", { exact: true }).inputValue(), "read_only")
      assert.match(page.url(), /access=read_only.*tab=node|tab=node.*access=read_only/)
    }))

  const narrow = async (page: Page) => {
    await place(page, "API keys").click()
    await page.getByRole("link", { name: "Create API key" }).click()
    await page.getByLabel("Name").fill("ci")
    await page.getByLabel("Agent").check()
    assert.strictEqual(await page.getByLabel("Branch", { exact: true }).count(), 0)
    await page.getByLabel("Scope").selectOption({ label: "Project shop" })
  }

  const createNarrow = async (page: Page) => {
    await page.getByLabel("Branch", { exact: true }).selectOption({ label: "main" })
    assert.strictEqual(await page.getByLabel("Name").inputValue(), "ci")
    assert.isTrue(await page.getByLabel("Agent").isChecked())
    await page.getByRole("button", { name: "Create key" }).click()
    await page.getByRole("heading", { name: "API key created" }).waitFor()
    await page.getByRole("link", { name: "I have stored it" }).click()
    await page.getByRole("cell", { name: "One branch of shop" }).waitFor()
  }

  it("the branches of a project are offered when it is chosen as the scope of a key, and the draft stays", () =>
    inProject("keys@choices.example.com", {}, async (page) => {
      await narrow(page)
      await page.getByLabel("Branch", { exact: true }).waitFor()
      await assertAccessible(page)
      await createNarrow(page)
    }))

  it("without JavaScript a button offers the branches, and the draft stays", () =>
    inProject("plain@choices.example.com", { javaScriptEnabled: false }, async (page) => {
      await narrow(page)
      await page.getByRole("button", { name: "Show the branches of the project" }).click()
      await createNarrow(page)
    }))

  it("breadcrumb, heading and cards begin at one edge, and end at one, also on a wide screen", () =>
    inProject("wide@choices.example.com", {}, async (page) => {
      for (const width of [390, 1100, 1440, 2200]) {
        await page.setViewportSize({ width, height: 900 })
        const [crumbs, heading, card, find] = await Promise.all(
          [".crumbs ol", "h1", "#connect", ".find"].map((it) => page.locator(it).boundingBox())
        )
        assert(crumbs && heading && card && find)
        assert.closeTo(heading.x, card.x, 1, `${width} px`)
        // On a phone the button of the navigation is before the breadcrumb.
        if (width === 390) continue
        assert.closeTo(crumbs.x, heading.x, 1, `${width} px`)
        assert.closeTo(find.x + find.width, card.x + card.width, 1, `${width} px`)
      }
    }))
})

/** A project from its creation to its end, in the console of a running platform: by role and label, in a real browser. */
import { execFile } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import type { BrowserContextOptions, Page } from "playwright-core"
import { newContext } from "../harness/browser.ts"
import { until } from "../harness/eventually.ts"
import { assertAccessible } from "../support/accessibility.ts"
import { complaintsOf } from "../support/complaints.ts"
import { consoleTests } from "../support/consoleTests.ts"

/** Milliseconds to wait for a page or an element. */
const pageLimit = 45_000

const signIn = async (page: Page, console: string, email: string) => {
  await page.goto(`${console}/sign-in/dev-one`)
  await page.getByLabel("Email address").fill(email)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
}

/** The output of psql, or its complaint. */
const psql = (uri: string, statement: string) =>
  new Promise<{ readonly printed: string; readonly complaint: string }>((resolve) => {
    execFile(
      "psql",
      ["-XAtc", statement, uri],
      { timeout: pageLimit, env: { ...process.env, PGCONNECT_TIMEOUT: "40" } },
      (_, stdout, stderr) => resolve({ printed: stdout.trim(), complaint: stderr })
    )
  })

const widths = [390, 768, 1440]

/** No page pans sideways, at any width. */
const assertFits = async (page: Page) => {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth")
    assert.isAtMost(wide, width, `${page.url()} pans sideways at ${width} px`)
  }
}

describe("a project in the console", { tags: ["chromium", "psql"], timeout: 240_000 }, () => {
  const shared = consoleTests()

  const browsing = async (options: BrowserContextOptions, work: (page: Page) => Promise<void>) => {
    const context = await newContext(shared.browser, options)
    try {
      const page = await context.newPage()
      const complaints = complaintsOf(page)
      page.setDefaultTimeout(pageLimit)
      await shared.platform.explain(() => work(page))
      // Chromium reports pages with an error status, which forms are shown again with.
      assert.deepStrictEqual(
        complaints.filter((complaint) => !/status of (409|422)/.test(complaint)),
        []
      )
    } finally {
      await context.close()
    }
  }

  const createProject = async (page: Page, name: string) => {
    await page
      .getByRole("link", { name: /new project/i })
      .first()
      .click()
    await page.getByLabel("Name").fill(name)
    await page.getByRole("button", { name: "Create project" }).click()
    await page.getByRole("heading", { name, level: 1 }).waitFor()
  }

  const place = (page: Page, name: string) =>
    page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(`^${name}`) })
      .first()

  const createPassword = async (page: Page) => {
    await page.getByRole("button", { name: "Create password" }).click()
    return (await page.getByText(/^postgresql:\/\/role_/).textContent()) ?? ""
  }

  it("a person creates, connects, restricts, learns why an address is refused, and deletes", () =>
    browsing({ colorScheme: "dark" }, async (page) => {
      await signIn(page, shared.platform.ready.console, "ada@project.example.com")
      await createProject(page, "shop")
      await assertFits(page)

      await page.getByRole("link", { name: "New branch" }).click()
      await assertFits(page)
      await assertAccessible(page)
      await page.getByLabel("Name").fill("preview")
      await page.getByRole("button", { name: "Create branch" }).click()
      await page.getByRole("heading", { name: "preview", level: 1 }).waitFor()
      // Without a reload.
      await page.locator("#branch-state").getByText("ready").waitFor()
      await assertFits(page)
      await assertAccessible(page)

      await page.getByRole("link", { name: "Connect", exact: true }).click()
      assert.strictEqual(
        await page.getByLabel("Branch", { exact: true }).locator("option:checked").textContent(),
        "preview"
      )
      const uri = await createPassword(page)
      await assertFits(page)
      const table = "create table kept as select 42 as answer; select answer from kept"
      assert.include((await psql(uri, table)).printed, "42")

      await place(page, "Endpoints").click()
      await page.getByRole("link", { name: "Add an endpoint" }).click()
      await page.getByRole("combobox", { name: "Branch" }).selectOption({ label: "preview" })
      await page.getByRole("combobox", { name: "Access" }).selectOption({ label: "read only" })
      await assertFits(page)
      await assertAccessible(page)
      await page.getByRole("button", { name: "Add endpoint" }).click()
      await page.getByRole("heading", { name: "preview, read only", level: 1 }).waitFor()
      await assertFits(page)
      await assertAccessible(page)
      await place(page, "Endpoints").click()
      await page.getByRole("rowheader", { name: "preview read only" }).waitFor()
      await assertFits(page)
      await assertAccessible(page)

      await place(page, "Allowlist").click()
      await page.getByRole("textbox", { name: "Network" }).fill("203.0.113.0/24")
      await page.getByRole("button", { name: "Add rule" }).click()
      await page.getByText("This rule would lock you out.").waitFor()
      await assertAccessible(page)
      await page.getByRole("button", { name: "Add it without mine" }).click()
      await page.getByText("The network was added.").waitFor()
      await assertFits(page)
      await assertAccessible(page)
      let complaint = ""
      await until(
        "the proxy to refuse the address",
        async () => {
          complaint = (await psql(uri, "select 1")).complaint
          return complaint !== ""
        },
        { every: 200 }
      )
      assert.match(complaint.replaceAll(/\s+/g, " "), /is not on this project's IP allowlist/)
      await page.getByLabel("Why was I refused?").fill("127.0.0.1")
      await page.getByRole("button", { name: "Check", exact: true }).click()
      await page.getByText("is refused: no network on the list contains it").waitFor()
      const allow = page.getByRole("link", { name: "Allow 127.0.0.1" })
      await until(
        "the refused client to be listed",
        async () => {
          await place(page, "Allowlist").click()
          await page.getByRole("heading", { name: "Refused clients" }).waitFor()
          return (await allow.count()) === 1
        },
        { every: 200 }
      )
      await assertFits(page)
      await assertAccessible(page)
      await allow.click()
      await page.waitForURL((url) => url.searchParams.get("allow") === "127.0.0.1")
      assert.strictEqual(await page.getByRole("textbox", { name: "Network" }).inputValue(), "127.0.0.1")
      await page.getByRole("button", { name: "Add rule" }).click()
      await page.getByRole("rowheader", { name: "127.0.0.1/32" }).waitFor()
      await until(
        "the proxy to admit the address",
        async () => (await psql(uri, "select answer from kept")).printed === "42",
        {
          every: 200
        }
      )

      await place(page, "Operations").click()
      await page.getByRole("rowheader", { name: /created branch preview from main/ }).waitFor()
      await assertFits(page)
      await assertAccessible(page)

      await place(page, "Branches").click()
      await assertFits(page)
      await assertAccessible(page)
      await page.getByRole("table").getByRole("link", { name: "preview" }).click()
      await page.getByRole("button", { name: "Delete preview" }).click()
      await assertAccessible(page)
      const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete the branch" })
      const sent: Array<string | null> = []
      page.on("request", (request) => {
        if (request.method() === "POST") sent.push(new URLSearchParams(request.postData() ?? "").get("typed"))
      })
      await page.getByLabel("Type preview to confirm").fill("shop")
      await confirm.click()
      await page.getByLabel("Type preview to confirm").fill("preview")
      await confirm.click()
      await page.getByText("The deletion of the branch was requested.").waitFor()
      // Requests are in their order: a form that the first click sent would be before the second.
      assert.deepStrictEqual(sent, ["preview"], "another name sends nothing")
      assert.notStrictEqual((await psql(uri, "select 1")).complaint, "")

      await place(page, "Settings").last().waitFor()
      await page.getByRole("navigation").getByRole("link", { name: "Settings" }).last().click()
      await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor()
      await assertFits(page)
      await assertAccessible(page)
      await page.getByRole("button", { name: "Delete shop" }).click()
      await page.getByLabel("Type shop to confirm").fill("shop")
      await page.getByRole("button", { name: "Delete the project" }).click()
      await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
      assert.strictEqual(await page.getByRole("link", { name: "shop", exact: true }).count(), 0)
    }))

  it("the Connect card shows the branch that is chosen, at once, and a tab keeps the choice", () =>
    browsing({}, async (page) => {
      await signIn(page, shared.platform.ready.console, "edsger@project.example.com")
      await createProject(page, "shown")
      await page.getByRole("link", { name: "New branch" }).click()
      await page.getByLabel("Name").fill("preview")
      await page.getByRole("button", { name: "Create branch" }).click()
      await page.locator("#branch-state").getByText("ready").waitFor()
      await place(page, "Overview").click()
      const card = page.locator("#connect")
      await card.getByRole("heading", { name: "Connect to main" }).waitFor()
      const first = await card.getByText(/^psql '/).textContent()
      assert.isTrue(await card.getByText(/^psql '/).isVisible())
      assert.strictEqual(await card.getByRole("button", { name: "Show" }).count(), 0)
      await card.getByLabel("Branch", { exact: true }).focus()
      await card.getByLabel("Branch", { exact: true }).selectOption({ label: "preview" })
      await card.getByRole("heading", { name: "Connect to preview" }).waitFor()
      const second = await card.getByText(/^psql '/).textContent()
      assert.notStrictEqual(second, first)
      assert.strictEqual(await page.evaluate<string>("document.activeElement.id"), "connect-branch")
      await card.getByRole("radio", { name: "Node" }).check()
      await card.getByText(/^import pg/).waitFor()
      assert.isFalse(await card.getByText(/^psql '/).isVisible())
      assert.strictEqual(new URL(page.url()).searchParams.get("tab"), "node")
      const endpoint = /endpoint%3D(ep-\w+)/.exec(second ?? "")?.[1] ?? "no endpoint"
      assert.include(await card.getByText(/^import pg/).textContent(), endpoint)
      await card.getByRole("heading", { name: "Connect to preview" }).waitFor()
      await assertAccessible(page)
      await card.getByRole("button", { name: "Create password" }).click()
      await card.getByText(/^The password is shown only once/).waitFor()
      await page.getByRole("heading", { name: "shown", level: 1 }).waitFor()
      const lines = card.getByText(/^import pg/)
      assert.isTrue(await lines.isVisible(), "the program is kept")
      assert.match((await lines.textContent()) ?? "", /postgresql:\/\/role_\w+:\w+@/)
      assert.strictEqual(await card.getByText(/^psql '/).isVisible(), false)
      assert.notMatch(page.url(), /role_|tab=/, "no part of the secret is in the address")
      await card.getByRole("radio", { name: "JDBC" }).check()
      await card.getByText(/^jdbc:postgresql:/).waitFor()
      await assertFits(page)
      await assertAccessible(page)
      await page.getByRole("link", { name: "I have stored it" }).click()
      await card.getByText(/^import pg[\s\S]*role:••••/).waitFor()
    }))

  it("without JavaScript a person gets from sign-in to a connected branch", () =>
    browsing({ javaScriptEnabled: false }, async (page) => {
      await signIn(page, shared.platform.ready.console, "grace@project.example.com")
      await createProject(page, "plain")
      await page.getByRole("link", { name: "New branch" }).click()
      await page.getByLabel("Name").fill("preview")
      await page.getByRole("button", { name: "Create branch" }).click()
      await page.getByRole("heading", { name: "preview", level: 1 }).waitFor()
      await page.getByRole("link", { name: "Connect", exact: true }).click()
      await page.getByLabel("as", { exact: true }).selectOption({ label: "read only" })
      await page.getByRole("button", { name: "Show" }).click()
      assert.strictEqual(await page.getByLabel("as", { exact: true }).inputValue(), "read_only")
      await page.getByRole("radio", { name: "JDBC" }).check()
      await page.getByText(/^jdbc:postgresql:/).waitFor()
      const uri = await createPassword(page)
      const { complaint, printed } = await psql(uri, "select current_user")
      assert.match(printed, /^role_/, complaint)
    }))
})

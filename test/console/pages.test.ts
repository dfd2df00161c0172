/**
 * Every page of the console in a real browser: presentable in each width and theme, no violation of the content
 * security policy, and small. With `npm run console:screenshots` the pages are kept as pictures.
 */
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { BrowserContext, Locator, Page } from "playwright-core"
import { newContext } from "../harness/browser.ts"
import { until } from "../harness/eventually.ts"
import { consoleTests } from "../support/consoleTests.ts"
import { assertPresentable } from "../support/pageChecks.ts"
import { signInAt } from "../support/signInAt.ts"

/** Milliseconds to wait for a page or an element. */
const pageLimit = 45_000

/** A page moves the focus in the frame after the one that shows the element. */
const untilFocused = (what: string, element: Locator) =>
  until(`the focus to be on ${what}`, () => element.evaluate((it) => it === document.activeElement), { every: 20 })

describe("every page of the console", { tags: ["chromium"], timeout: 400_000 }, () => {
  const shared = consoleTests()
  let context: BrowserContext
  let page: Page
  let home: string
  const complaints: Array<string> = []

  /** A new page, in which every error is recorded. */
  const opened = async (from: BrowserContext): Promise<Page> => {
    const page = await from.newPage()
    page.setDefaultTimeout(pageLimit)
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text())
    })
    return page
  }

  beforeAll(async () => {
    context = await newContext(shared.browser)
    page = await opened(context)
    await page.goto(`${shared.platform.ready.console}/sign-in`)
    await page.getByRole("link", { name: "Development One" }).click()
    await page.getByLabel("Email address").fill("ada@pages.example.com")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    home = new URL(page.url()).pathname.replace("/projects", "")
  })

  afterAll(() => context?.close())

  /** Opens and checks the pages, by name of their pictures. */
  const check = async (pages: Readonly<Record<string, string>>, at = page) => {
    complaints.length = 0
    for (const [name, path] of Object.entries(pages)) {
      const answer = await at.goto(shared.platform.ready.console + path)
      assert.isBelow(answer?.status() ?? 500, 400, `${name} ${path}`)
      await assertPresentable(at, name)
    }
    assert.deepStrictEqual(complaints, [])
  }

  const create = async (path: string, body: unknown) => {
    const { api, console: web, providers } = shared.platform.ready
    const id_token = await signInAt(providers[0]?.issuer ?? "", `${web}/sign-in/callback`, "ada@pages.example.com")
    const post = async (path: string, body: unknown, token?: string) => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) }
      const answer = await fetch(api + path, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(pageLimit)
      })
      assert.isBelow(answer.status, 300, path)
      return answer.json()
    }
    const { access_token } = await post("/v1/auth/exchange", { id_token })
    return post(path, body, access_token)
  }

  it("pages without an organization are presentable", async () => {
    const stranger = await newContext(shared.browser)
    try {
      await check({ landing: "/", "sign-in": "/sign-in" }, await opened(stranger))
    } finally {
      await stranger.close()
    }
  })

  it("the first page with everything that it loads is at most 60 kB compressed, the script 12 kB", async () => {
    const fresh = await newContext(shared.browser)
    try {
      const loading: Array<Promise<readonly [path: string, bytes: number]>> = []
      const first = await opened(fresh)
      first.on("response", (answer) => {
        const path = new URL(answer.url()).pathname
        loading.push(
          answer.body().then((body) => [path, path.endsWith(".woff2") ? body.length : gzipSync(body).length])
        )
      })
      await first.goto(shared.platform.ready.console, { waitUntil: "networkidle" })
      assert.strictEqual(
        await first.evaluate("document.fonts.load('14px Inter').then(({ length }) => length > 0)"),
        true
      )
      const loaded = await Promise.all(loading)
      const bytes = (end: string) => loaded.find(([path]) => path.endsWith(end))?.[1] ?? Number.POSITIVE_INFINITY
      assert.isAtMost(bytes("console.js"), 12_000)
      assert.isAtMost(bytes("inter.woff2"), 30_000)
      assert.isAtMost(
        loaded.reduce((sum, [, size]) => sum + size, 0),
        60_000
      )
    } finally {
      await fresh.close()
    }
  })

  it("pages of an organization without projects are presentable", () =>
    check({
      "first-steps": `${home}/projects`,
      "new-project": `${home}/projects/new`,
      "api-keys-empty": `${home}/api-keys`,
      members: `${home}/members`,
      activity: `${home}/activity`,
      regions: `${home}/regions`,
      settings: `${home}/settings`,
      account: "/account",
      "new-organization": "/orgs/new",
      invitations: "/invitations",
      components: "/dev/components"
    }))

  it("pages of a project are presentable", async () => {
    const { branch, project } = await create("/v1/projects", { name: "checkout" })
    const inside = `${home}/projects/${project.id}`
    await create(`/v1/projects/${project.id}/ip-allow`, { cidr: "203.0.113.0/24", label: "The office in Stockholm" })
    await check({
      projects: `${home}/projects`,
      project: inside,
      branches: `${inside}/branches`,
      "new-branch": `${inside}/branches/new`,
      branch: `${inside}/branches/${branch.id}`,
      credentials: `${inside}/branches/${branch.id}/credentials`,
      endpoints: `${inside}/endpoints`,
      "new-endpoint": `${inside}/endpoints/new`,
      operations: `${inside}/operations`,
      allowlist: `${inside}/ip-allow`,
      "project-settings": `${inside}/settings`
    })
  })

  it("an error is in view and focused after a refused form, and the draft is kept", async () => {
    complaints.length = 0
    await page.goto(`${shared.platform.ready.console}${home}/projects/new`)
    const name = page.getByLabel("Name")
    await name.evaluate((field) => field.removeAttribute("maxlength"))
    await name.fill("x".repeat(200))
    await page.getByRole("button", { name: "Create project" }).click()
    const summary = page.getByRole("alert").first()
    await summary.waitFor()
    await untilFocused("the summary of errors", summary)
    assert.match(await page.title(), /^Error: /)
    assert.strictEqual(await name.inputValue(), "x".repeat(200))
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await untilFocused("the refused field", name)
    // A refused form is an answer with the status 422, which browsers report.
    assert.deepStrictEqual(
      complaints.filter((complaint) => !complaint.includes("422")),
      []
    )
  })

  it("the notice of an action is gone after a reload, and the address does not keep it", async () => {
    await page.goto(`${shared.platform.ready.console}${home}/projects?done=project-created`)
    await page.getByText("The project was created.").waitFor()
    await page.waitForURL((url) => !url.search.includes("done"))
    await page.reload()
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    assert.strictEqual(await page.getByText("The project was created.").count(), 0)
  })

  it("menus close on Escape and on a click outside, and the focus returns to the button", async () => {
    await page.goto(`${shared.platform.ready.console}${home}/projects`)
    const button = page.getByRole("button", { name: /^Organization: / })
    const entry = page.getByRole("link", { name: "New organization" })
    await button.click()
    await entry.waitFor()
    await page.keyboard.press("Escape")
    await entry.waitFor({ state: "hidden" })
    await untilFocused("the button of the menu", button)
    await button.click()
    await entry.waitFor()
    await page.getByRole("heading", { name: "Projects", level: 1 }).click()
    await entry.waitFor({ state: "hidden" })
  })

  it("the palette goes to a project with the keyboard alone", async () => {
    await create("/v1/projects", { name: "warehouse" })
    await page.goto(`${shared.platform.ready.console}${home}/api-keys`)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").waitFor()
    await page
      .getByRole("option", { name: /warehouse/ })
      .first()
      .waitFor()
    await page.keyboard.type("no such place")
    await page.getByText("Nothing has this name.").waitFor()
    await page.getByRole("combobox").fill("warehouse project")
    await page.getByRole("option").first().waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "warehouse", level: 1 }).waitFor()
  })

  it("text that a person types before the palette has opened stays", async () => {
    await page.goto(`${shared.platform.ready.console}${home}/api-keys`)
    // As text: the event of opening comes after the first letters of a person who types at once.
    const typed = await page.evaluate(`(async () => {
      const palette = document.getElementById("palette")
      const opened = new Promise((resolve) => palette.addEventListener("toggle", resolve, { once: true }))
      palette.showModal()
      palette.querySelector("input").value = "operations"
      await opened
      return palette.querySelector("input").value
    })()`)
    assert.strictEqual(typed, "operations")
  })

  it("on a phone the sidebar is a drawer, also without script", async () => {
    const phone = await newContext(shared.browser, {
      viewport: { width: 390, height: 844 },
      javaScriptEnabled: false,
      storageState: await context.storageState()
    })
    try {
      const small = await opened(phone)
      await small.goto(`${shared.platform.ready.console}${home}/projects`)
      const places = small.getByRole("navigation", { name: "Main" })
      assert.strictEqual(await places.count(), 0)
      await small.getByRole("button", { name: "Navigation" }).click()
      await places.getByRole("link", { name: "API keys" }).click()
      await small.getByRole("heading", { name: "API keys", level: 1 }).waitFor()
      assert.strictEqual(await places.count(), 0)
    } finally {
      await phone.close()
    }
  })

  it("the chosen theme is that of the page from its first paint on", async () => {
    await page.goto(`${shared.platform.ready.console}${home}/projects`)
    await page.getByRole("button", { name: /^Account: / }).click()
    await page.getByRole("button", { name: "Dark theme" }).click()
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    await page.emulateMedia({ colorScheme: "light" })
    assert.strictEqual(await page.evaluate("document.documentElement.dataset.theme"), "dark")
    assert.strictEqual(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(14, 15, 18)")
    await page.getByRole("button", { name: /^Account: / }).click()
    await page.getByRole("button", { name: "System theme" }).click()
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    assert.strictEqual(await page.evaluate("document.documentElement.dataset.theme"), undefined)
  })
})

/** A person clicks through the console of a running platform, in a real browser. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser, Page } from "playwright-core"
import { assertAccessible, browserTests, launch } from "./support/Chromium.ts"
import { cli, emptyDirectory, operator, Platform } from "./support/Platform.ts"
import { signInAt } from "./support/signInAt.ts"

const cliFile = resolve(import.meta.dirname, "../packages/cli/dist/narthex.js")

/** Fails the test for whatever a browser complains about; a refused page that was asked for is not that. */
const watched = async (browser: Browser): Promise<{ readonly page: Page; readonly complaints: Array<string> }> => {
  const page = await (await browser.newContext()).newPage()
  const complaints: Array<string> = []
  page.on("pageerror", (error) => complaints.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text())
  })
  page.setDefaultTimeout(15_000)
  return { page, complaints }
}

const signIn = async (page: Page, console: string, provider: string, email: string) => {
  await page.goto(console)
  await page.getByRole("link", { name: "Sign in" }).first().click()
  await page
    .getByRole("link", { name: provider })
    .or(page.getByRole("button", { name: provider }))
    .first()
    .click()
  await page.getByLabel("Email address").fill(email)
  await page.getByRole("button", { name: "Sign in" }).click()
}

describe.skipIf(!browserTests)("the console", { timeout: 120_000 }, () => {
  const directory = emptyDirectory("root")
  let platform: Platform
  let browser: Browser

  beforeAll(async () => {
    platform = await Platform.start(directory.path, "root", { NARTHEX_COMPUTE: "local" })
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await platform?.stop()
    directory.remove()
  })

  it("signs in with either provider, makes a project, and shows its work live", async () => {
    const { complaints, page } = await watched(browser)
    await signIn(page, platform.ready.console, "Development Two", "grace@example.com")
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    await assertAccessible(page)

    await page
      .getByRole("link", { name: /new project/i })
      .first()
      .click()
    await page.getByLabel("Name").fill("clicked")
    await page.getByRole("button", { name: "Create project" }).click()
    await page.getByRole("heading", { name: "clicked", level: 1 }).waitFor()
    // Nobody reloads: the row says "finished" because the stream said so.
    const activity = page.locator("live-activity")
    await activity.getByText("create timeline").waitFor()
    await activity.getByText("finished").first().waitFor()
    await assertAccessible(page)

    await page.getByRole("button", { name: "Start" }).click()
    await activity.getByText("start compute").first().waitFor()
    await page.getByText("active", { exact: true }).first().waitFor()
    assert.deepStrictEqual(complaints, [])
  })

  it("shows a key's secret once, and the key ends when it is revoked", async () => {
    const { complaints, page } = await watched(browser)
    await signIn(page, platform.ready.console, "Development One", "ada@example.com")
    await page.getByRole("link", { name: "API keys" }).click()
    await page.getByRole("button", { name: "Create API key" }).click()
    await assertAccessible(page)
    await page.getByLabel("Name").fill("from the console")
    await page.getByRole("button", { name: "Create key" }).click()
    const secret =
      (
        await page
          .getByText(/nsk_[0-9A-Za-z]{49}/)
          .first()
          .textContent()
      )?.match(/nsk_\w+/)?.[0] ?? ""
    await assertAccessible(page)
    const home = join(directory.path, "home-key")
    const whoami = () => cli(home, platform.ready.api, secret, ["whoami", "-o", "json"])
    assert.strictEqual(JSON.parse(whoami().stdout).api_key.name, "from the console")

    await page.getByRole("link", { name: "API keys" }).click()
    await page.getByRole("rowheader", { name: /from the console/ }).waitFor()
    assert.notInclude(await page.content(), secret)
    await page.getByRole("button", { name: "Revoke from the console" }).click()
    await page.getByRole("button", { name: "Revoke the key" }).click()
    await page.getByText("No API keys yet").waitFor()
    assert.strictEqual(whoami().status, 4)
    assert.deepStrictEqual(complaints, [])
  })

  it("switches the organization", async () => {
    const { api, console: web, providers } = platform.ready
    const id_token = await signInAt(providers[0]?.issuer ?? "", `${web}/sign-in/callback`, "ada@example.com")
    const post = async (path: string, body: unknown, token?: string) => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) }
      return (await fetch(api + path, { method: "POST", headers, body: JSON.stringify(body) })).json()
    }
    const { access_token } = (await post("/v1/auth/exchange", { id_token })) as { access_token: string } // api.md
    await post("/v1/orgs", { name: "The Team" }, access_token)

    const { complaints, page } = await watched(browser)
    await signIn(page, web, "Development One", "ada@example.com")
    await page.locator("summary", { hasText: "ada" }).click()
    await page.getByRole("button", { name: /The Team/ }).click()
    await page.locator("summary", { hasText: "The Team" }).waitFor()
    await page.reload()
    await page.locator("summary", { hasText: "The Team" }).waitFor()
    assert.deepStrictEqual(complaints, [])
  })

  it("lets a command line have a key when a person says so, and only then", async () => {
    const { page } = await watched(browser)
    await signIn(page, platform.ready.console, "Development One", "ada@example.com")
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    const home = join(directory.path, "home-login")
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      NARTHEX_URL: platform.ready.api,
      BROWSER: "/bin/false",
      NARTHEX_NO_UPDATE_NOTIFIER: "1"
    }

    const login = async (button: "Authorize" | "Cancel") => {
      const child = spawn(process.execPath, [cliFile, "login"], { env: environment, stdio: ["ignore", "pipe", "pipe"] })
      let said = ""
      const url = await new Promise<string>((found) =>
        child.stderr.on("data", (text) => {
          said += String(text)
          const line = /http:\/\/\S*\/cli\/authorize\?\S+/.exec(said)?.[0]
          if (line !== undefined) found(line)
        })
      )
      const ended = once(child, "exit")
      await page.goto(url)
      await assertAccessible(page)
      await page.getByRole("button", { name: button }).click()
      const [status] = await ended
      return { status, said }
    }

    const cancelled = await login("Cancel")
    assert.notStrictEqual(cancelled.status, 0, cancelled.said)
    const authorized = await login("Authorize")
    assert.strictEqual(authorized.status, 0, authorized.said)
    await page.getByText(/close this (window|tab|page)/i).waitFor()
    const who = cli(home, platform.ready.api, undefined, ["whoami", "-o", "json"])
    assert.strictEqual(JSON.parse(who.stdout).user.email, "ada@example.com")

    // Signing out of the console leaves the command line's key alone.
    await page.goto(platform.ready.console)
    await page.goto(`${platform.ready.console}/projects`)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByRole("link", { name: "Sign in" }).first().waitFor()
    assert.strictEqual(cli(home, platform.ready.api, undefined, ["whoami"]).status, 0)
    assert.strictEqual(cli(home, platform.ready.api, undefined, ["logout"]).status, 0)
    assert.strictEqual(cli(home, platform.ready.api, undefined, ["whoami"]).status, 4)
  })

  it("sends a pending account to the waiting page, and lets it on once it is enabled", async () => {
    const closed = emptyDirectory("root")
    const gated = await Platform.start(closed.path, "root", { NARTHEX_OPEN_SIGNUP: "false", NARTHEX_COMPUTE: "memory" })
    try {
      const { page } = await watched(browser)
      await signIn(page, gated.ready.console, "Development One", "new@example.com")
      await page.waitForURL(/\/pending$/)
      // The page looks again every half minute by itself, so that it works without scripts.
      await assertAccessible(page, ["meta-refresh"])
      await page.goto(`${gated.ready.console}/projects`)
      await page.waitForURL(/\/pending$/)

      const [row] = operator(closed.path, "accounts", "list").split("\n")
      assert.include(row, "new@example.com")
      operator(closed.path, "accounts", "enable", row?.split(" ")[0] ?? "")
      await page.goto(`${gated.ready.console}/projects`)
      await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
    } finally {
      await gated.stop()
      closed.remove()
    }
  })
})

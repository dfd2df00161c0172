/** The console of a running platform, used in a real browser. Holds docs/design/api.md A3. */
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { useClusterTemplates } from "../packages/local-postgres/testing/clusterTemplates.ts"
import { newContext } from "./harness/browser.ts"
import { assertAccessible } from "./support/accessibility.ts"
import { beginCli, cli, operator } from "./support/commands.ts"
import { complaintsOf } from "./support/complaints.ts"
import { consoleTests } from "./support/consoleTests.ts"
import { Platform } from "./support/Platform.ts"
import { signInAt } from "./support/signInAt.ts"
import { emptyDirectory, ownAccount } from "./support/surroundings.ts"

/** Milliseconds to wait for a page or an element. */
const pageLimit = 45_000

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

/** The button that opens the menu of organizations, when the active one has this text in its name. */
const organizationMenu = (page: Page, name: string) =>
  page.getByRole("button", { name: new RegExp(`^Organization: .*${name}`) })

describe("the console", { tags: ["chromium"], timeout: 180_000 }, () => {
  const shared = consoleTests()
  /** The homes of people who use the command line, too. */
  const homes = emptyDirectory(ownAccount)
  afterAll(() => homes.remove())

  /** Opens a page without cookies. Fails for every error in the browser's console that is not `expected`. */
  const browsing = async (
    work: (page: Page) => Promise<void>,
    {
      at = shared.platform,
      expected = () => false
    }: { at?: Pick<Platform, "explain">; expected?: (complaint: string) => boolean } = {}
  ): Promise<void> => {
    const context = await newContext(shared.browser)
    try {
      const page = await context.newPage()
      const complaints = complaintsOf(page)
      page.setDefaultTimeout(pageLimit)
      await at.explain(() => work(page))
      assert.deepStrictEqual(
        complaints.filter((complaint) => !expected(complaint)),
        []
      )
    } finally {
      await context.close()
    }
  }

  it("a person signs in, creates a project in the console, and sees its operations live", () =>
    browsing(async (page) => {
      await signIn(page, shared.platform.ready.console, "Development Two", "grace@console.example.com")
      await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
      await assertAccessible(page)

      await page
        .getByRole("link", { name: /new project/i })
        .first()
        .click()
      await page.getByLabel("Name").fill("clicked")
      await page.getByRole("button", { name: "Create project" }).click()
      await page.getByRole("heading", { name: "clicked", level: 1 }).waitFor()
      // Without a reload: the row is "finished" because of the event stream.
      const activity = page.locator("#activity")
      await activity.getByRole("listitem").filter({ hasText: "created project clicked" }).waitFor()
      await assertAccessible(page)

      await page.getByRole("button", { name: "Start", exact: true }).click()
      await activity
        .getByRole("listitem")
        .filter({ hasText: /start(ed|ing) main/ })
        .waitFor()
      await page.locator("#project-state").getByText("active", { exact: true }).waitFor()

      await page.getByRole("button", { name: "Create password" }).click()
      await page.getByText(/^psql .postgresql:\/\/role_/).waitFor()
      await assertAccessible(page)
      await page.getByRole("link", { name: "Credentials of main" }).click()
      await page.getByRole("table").getByText("grace@console.example.com").waitFor()
      await assertAccessible(page)
      await page.getByRole("button", { name: /^Revoke role_/ }).click()
      await page.getByRole("button", { name: "Revoke the credential" }).click()
      await page.getByText("The credential was revoked, and its sessions have ended.").waitFor()
      await page.getByText("No credentials").waitFor()
    }))

  it("the console shows the secret of an API key once, and a revoked key is refused", () =>
    browsing(async (page) => {
      await signIn(page, shared.platform.ready.console, "Development One", "ada@console.example.com")
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "API keys" }).click()
      await page.getByRole("link", { name: "Create API key" }).click()
      await page.getByRole("heading", { name: "New API key", level: 1 }).waitFor()
      await assertAccessible(page)
      await page.getByLabel("Name").fill("from the console")
      await page.getByRole("button", { name: "Create key" }).click()
      const shown = await page
        .getByText(/nsk_[0-9A-Za-z]{49}/)
        .first()
        .textContent()
      const [secret = ""] = /nsk_\w+/.exec(shown ?? "") ?? []
      await assertAccessible(page)
      const whoami = () =>
        cli(join(homes.path, "home-key"), shared.platform.ready.api, secret, ["whoami", "-o", "json"])
      assert.strictEqual(JSON.parse((await whoami()).stdout).api_key.name, "from the console")

      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "API keys" }).click()
      await page.getByRole("rowheader", { name: /from the console/ }).waitFor()
      assert.notInclude(await page.content(), secret)
      await page.getByRole("link", { name: "from the console" }).click()
      await page.getByRole("button", { name: "Revoke from the console" }).click()
      await page.getByRole("button", { name: "Revoke the key" }).click()
      await page.getByText("No API keys yet").waitFor()
      assert.strictEqual((await whoami()).status, 4)
    }))

  const post = async (path: string, body: unknown, token?: string) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) }
    const signal = AbortSignal.timeout(pageLimit)
    return (
      await fetch(shared.platform.ready.api + path, { method: "POST", headers, signal, body: JSON.stringify(body) })
    ).json()
  }

  /** A session of the API. */
  const sessionOf = async (email: string) => {
    const { console: web, providers } = shared.platform.ready
    const id_token = await signInAt(providers[0]?.issuer ?? "", `${web}/sign-in/callback`, email)
    // The session answer.
    return (await post("/v1/auth/exchange", { id_token })) as {
      readonly access_token: string
      readonly organization: { readonly id: string }
    }
  }

  it("an invited person sees who invited them, and leaves; a second invitation waits until it is accepted", () =>
    browsing(async (page) => {
      const { access_token, organization } = await sessionOf("charles@console.example.com")
      const invite = () =>
        post(`/v1/orgs/${organization.id}/invitations`, { email: "lovelace@console.example.com" }, access_token)
      await invite()
      await signIn(page, shared.platform.ready.console, "Development One", "lovelace@console.example.com")
      const notice = page.getByRole("region", { name: "Invitation" })
      await notice.getByText(/charles@console\.example\.com.* invited you to/).waitFor()
      await assertAccessible(page)
      await notice.getByRole("button", { name: /^Leave/ }).click()
      await assertAccessible(page)
      await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click()
      await organizationMenu(page, "lovelace").waitFor()
      assert.strictEqual(await notice.count(), 0)

      await invite()
      await page.reload()
      await page.getByRole("link", { name: "Invitations 1" }).click()
      await assertAccessible(page)
      await page.getByRole("button", { name: /^Accept/ }).click()
      await page.getByRole("button", { name: /^Switch to/ }).click()
      await organizationMenu(page, "charles").waitFor()
      assert.strictEqual(await notice.count(), 0)
    }))

  it("the menu of the console switches the organization", () =>
    browsing(
      async (page) => {
        const { console: web } = shared.platform.ready
        const { access_token } = await sessionOf("ada@console.example.com")
        await post("/v1/orgs", { name: "The Team" }, access_token)

        await signIn(page, web, "Development One", "ada@console.example.com")
        await organizationMenu(page, "ada").click()
        await page.getByRole("button", { name: /The Team/ }).click()
        await organizationMenu(page, "The Team").waitFor()
        await page.reload()
        await organizationMenu(page, "The Team").waitFor()
      },
      // The page of the organization that is left may reload a part of itself while the session changes.
      { expected: (complaint) => /status of 409/.test(complaint) }
    ))

  it("a command line gets a key only after a person authorizes it in the console", () =>
    browsing(async (page) => {
      const { api, console: web } = shared.platform.ready
      await signIn(page, web, "Development One", "ada@console.example.com")
      await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
      const home = join(homes.path, "home-login")
      const narthex = (...args: ReadonlyArray<string>) => cli(home, api, undefined, args)

      const login = async (button: "Authorize" | "Cancel") => {
        const running = beginCli(home, api, undefined, ["login"])
        await page.goto(await running.says(/http:\/\/\S*\/cli\/authorize\?\S+(?=\s)/))
        await assertAccessible(page)
        await page.getByRole("button", { name: button }).click()
        return running.result
      }

      const cancelled = await login("Cancel")
      assert.notStrictEqual(cancelled.status, 0, cancelled.stderr)
      const authorized = await login("Authorize")
      assert.strictEqual(authorized.status, 0, authorized.stderr)
      await page.getByText(/close this (window|tab|page)/i).waitFor()
      const who = await narthex("whoami", "-o", "json")
      assert.strictEqual(JSON.parse(who.stdout).user.email, "ada@console.example.com")

      // Signing out of the console leaves the command line's key alone.
      await page.goto(`${web}/projects`)
      await page.getByRole("button", { name: /^Account/ }).click()
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByRole("link", { name: "Sign in" }).first().waitFor()
      assert.strictEqual((await narthex("whoami")).status, 0)
      assert.strictEqual((await narthex("logout")).status, 0)
      assert.strictEqual((await narthex("whoami")).status, 4)
    }))

  it("a pending account sees the waiting page until it is enabled", async () => {
    const closed = emptyDirectory(ownAccount)
    await useClusterTemplates(join(closed.path, "data"), "default")
    let gated: Platform | undefined
    try {
      const started = await Platform.start(closed.path, ownAccount, {
        NARTHEX_OPEN_SIGNUP: "false",
        NARTHEX_COMPUTE: "memory"
      })
      gated = started
      const { console: web } = started.ready
      await browsing(
        async (page) => {
          await signIn(page, web, "Development One", "new@example.com")
          await page.waitForURL(/\/pending$/)
          // The page reloads every 30 seconds with a meta refresh, so that it works without scripts.
          await assertAccessible(page, ["meta-refresh"])
          await page.goto(`${web}/projects`)
          await page.waitForURL(/\/pending$/)

          const [, row] = (await operator(closed.path, "accounts", "list")).split("\n")
          assert.include(row, "new@example.com")
          await operator(closed.path, "accounts", "enable", row?.split(" ")[0] ?? "")
          await page.goto(`${web}/projects`)
          await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor()
        },
        { at: started }
      )
      assert.strictEqual(await started.stop(), 0)
    } finally {
      await gated?.clear()
      closed.remove()
    }
  })
})

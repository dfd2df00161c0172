/** People and organizations in the console of a running platform, by role and label, with script and without. */
import { assert, describe, it } from "@effect/vitest"
import type { BrowserContextOptions, Page } from "playwright-core"
import { newContext } from "../harness/browser.ts"
import { assertAccessible } from "../support/accessibility.ts"
import { complaintsOf } from "../support/complaints.ts"
import { consoleTests } from "../support/consoleTests.ts"

/** Milliseconds to wait for a page or an element. */
const pageLimit = 45_000

/** The page is not wider than the window: nothing pans sideways. */
const assertFits = async (page: Page): Promise<void> => {
  // Evaluated in the page, as text: this program has no types of a document.
  const [wide, seen] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
  )) as [number, number] // two numbers
  assert.isAtMost(wide, seen, `${page.url()} pans sideways`)
}

/** axe finds nothing, and the page fits a wide window, a tablet and a phone. */
const assertGood = async (page: Page): Promise<void> => {
  await assertAccessible(page)
  const size = page.viewportSize()
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    await assertFits(page)
  }
  if (size !== null) await page.setViewportSize(size)
}

describe("people in the console", { tags: ["chromium"], timeout: 240_000 }, () => {
  const shared = consoleTests()

  /** A person's browser. Fails for every error in its console but refused forms, which browsers report too. */
  const asPerson = async <A>(
    email: string,
    work: (page: Page) => Promise<A>,
    options: BrowserContextOptions = {}
  ): Promise<A> => {
    const context = await newContext(shared.browser, { viewport: { width: 1440, height: 900 }, ...options })
    try {
      const page = await context.newPage()
      const complaints = complaintsOf(page)
      page.setDefaultTimeout(pageLimit)
      const result = await shared.platform.explain(async () => {
        await page.goto(`${shared.platform.ready.console}/sign-in`)
        await page.getByRole("link", { name: "Development One" }).click()
        await page.getByLabel("Email address").fill(email)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { level: 1 }).first().waitFor()
        return work(page)
      })
      assert.deepStrictEqual(
        complaints.filter((complaint) => !/status of 4\d\d/.test(complaint)),
        []
      )
      return result
    } finally {
      await context.close()
    }
  }

  const open = async (page: Page, place: string) => {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: place }).click()
    await page.getByRole("heading", { name: place, level: 1 }).waitFor()
  }

  const newTeam = async (page: Page, name: string) => {
    await page.goto(`${shared.platform.ready.console}/orgs/new`)
    await page.getByLabel("Name", { exact: true }).fill(name)
    await page.getByRole("button", { name: "Create organization" }).click()
    await page.getByRole("heading", { name: "Members", level: 1 }).waitFor()
  }

  const invite = async (page: Page, email: string) => {
    await page.getByLabel("Email address").fill(email)
    await page.getByRole("button", { name: "Invite", exact: true }).click()
    await page.getByRole("rowheader", { name: email }).waitFor()
  }

  it("a team is made, joined, changed and deleted", () =>
    asPerson("ada@people.example.com", async (ada) => {
      await newTeam(ada, "Engines")
      await ada.getByText("The organization was created").waitFor()
      // Grace has an account already, so the invitation waits for her answer.
      await asPerson("grace@people.example.com", () => Promise.resolve())
      await invite(ada, "grace@people.example.com")
      await assertGood(ada)

      await asPerson("grace@people.example.com", async (grace) => {
        await grace.getByRole("link", { name: /^Invitations/ }).click()
        await assertGood(grace)
        await grace.getByRole("button", { name: "Accept the invitation to Engines" }).click()
        await grace.getByRole("button", { name: "Switch to Engines" }).click()
        await open(grace, "Members")
        assert.strictEqual(await grace.getByRole("button", { name: "Invite", exact: true }).count(), 0)
        await open(grace, "Settings")
        assert.strictEqual(await grace.getByRole("button", { name: "Rename" }).count(), 0)
      })

      await ada.reload()
      await ada.getByRole("link", { name: /grace/i }).first().click()
      await ada.getByRole("combobox", { name: "Role" }).selectOption("admin")
      await assertGood(ada)
      await ada.getByRole("button", { name: "Change role" }).click()
      await ada.getByText("The role was changed.").waitFor()
      await ada.getByRole("row", { name: /grace.*admin/i }).waitFor()

      // The last owner stays.
      await ada
        .getByRole("row", { name: /\byou\b/ })
        .getByRole("link")
        .click()
      await ada.getByRole("button", { name: "Leave Engines" }).click()
      await ada.getByText("The last owner cannot be removed.").waitFor()

      await ada.goto(`${shared.platform.ready.console}/projects`)
      await open(ada, "Members")
      await ada.getByRole("link", { name: /grace/i }).first().click()
      await ada.getByRole("button", { name: /^Remove/ }).click()
      await ada.getByText("The member was removed.").waitFor()

      await open(ada, "Settings")
      await assertGood(ada)
      await ada.getByLabel("Name", { exact: true }).first().fill("Analytical Engines")
      await ada.getByRole("button", { name: "Rename" }).click()
      await ada.getByText("The organization was renamed.").waitFor()
      await ada.getByRole("button", { name: "Delete the organization" }).first().click()
      await ada.getByLabel("Type Analytical Engines to confirm").fill("Analytical Engines")
      await ada.getByRole("dialog").getByRole("button", { name: "Delete the organization" }).click()
      await ada.getByText("The organization was deleted.").waitFor()
    }))

  it("a key is created, rotated and revoked, and each secret is shown once", () =>
    asPerson("charles@people.example.com", async (page) => {
      await open(page, "API keys")
      await assertGood(page)
      await page.getByRole("link", { name: "Create API key" }).click()
      await page.getByLabel("Name").fill("ci deploy")
      await page.getByRole("radio", { name: /^Agent/ }).check()
      await assertGood(page)
      await page.getByRole("button", { name: "Create key" }).click()
      const secretOf = async () => (await page.getByText(/^nsk_[0-9A-Za-z]{49}$/).textContent()) ?? ""
      const first = await secretOf()
      await page.getByRole("link", { name: "I have stored it" }).click()
      await page.getByRole("link", { name: "ci deploy" }).click()
      assert.notInclude(await page.content(), first)
      await assertGood(page)
      await page.getByLabel("The old secret").selectOption("0")
      await page.getByRole("button", { name: "Rotate the secret" }).click()
      assert.notStrictEqual(await secretOf(), first)
      const status = async (secret: string) =>
        (await fetch(`${shared.platform.ready.api}/v1/auth/whoami`, { headers: { authorization: `Bearer ${secret}` } }))
          .status
      assert.deepStrictEqual([await status(first), await status(await secretOf())], [401, 200])
      await page.getByRole("link", { name: "I have stored it" }).click()
      await page.getByRole("link", { name: "ci deploy" }).click()
      await page.getByRole("button", { name: "Revoke ci deploy" }).click()
      await page.getByRole("button", { name: "Revoke the key" }).click()
      await page.getByText("The key was revoked.").waitFor()
    }))

  it("a session in another browser is ended, which signs it out", () =>
    asPerson("joan@people.example.com", (other) =>
      asPerson("joan@people.example.com", async (page) => {
        await page.goto(`${shared.platform.ready.console}/account`)
        await page.getByRole("row", { name: /this session/ }).waitFor()
        await assertGood(page)
        await page.getByRole("button", { name: /^End the session/ }).click()
        await page.getByText("The session was ended.").waitFor()
        await other.goto(`${shared.platform.ready.console}/account`)
        await other.waitForURL(/\/sign-in/)
      })
    ))

  it("activity, regions and projects name what there is, and the activity follows changes by itself", () =>
    asPerson("mary@people.example.com", async (page) => {
      await open(page, "Regions")
      await page.getByRole("table", { name: "Active regions" }).waitFor()
      await assertGood(page)
      await open(page, "Activity")
      await page.getByText("Nothing has happened yet").waitFor()
      const elsewhere = await page.context().newPage()
      await elsewhere.goto(`${shared.platform.ready.console}/projects`)
      await elsewhere.getByRole("link", { name: "New project" }).first().click()
      await elsewhere.getByLabel("Name").fill("shop")
      await elsewhere.getByRole("button", { name: "Create project" }).click()
      await elsewhere.getByRole("heading", { name: "shop", level: 1 }).waitFor()
      await elsewhere.close()
      await page.getByText(/created project shop/).waitFor()
      await assertGood(page)
      await open(page, "Projects")
      await page.getByRole("row", { name: /shop.*(suspended|created)/i }).waitFor()
      await assertGood(page)
    }))

  it("the link of an invitation leads through a sign-in that says who invites whom, to the button that accepts", () =>
    asPerson("grace@link.example.com", async (grace) => {
      await newTeam(grace, "Acme")
      await asPerson("bob@link.example.com", () => Promise.resolve())
      await invite(grace, "bob@link.example.com")
      const link = grace.getByRole("link", { name: "Open the link for bob@link.example.com" })
      await grace.getByRole("button", { name: "Copy the link for bob@link.example.com" }).waitFor()
      await grace
        .getByRole("button", { name: /^Actions of / })
        .first()
        .click()
      await grace.getByRole("link", { name: "Leave" }).waitFor()
      await grace.keyboard.press("Escape")
      await assertGood(grace)
      const context = await newContext(shared.browser, { viewport: { width: 1440, height: 900 } })
      try {
        const bob = await context.newPage()
        bob.setDefaultTimeout(pageLimit)
        await bob.goto((await link.getAttribute("href")) ?? "")
        await bob.getByRole("heading", { name: "Join Acme", level: 1 }).waitFor()
        await bob
          .getByText("grace@link.example.com invites you. Sign in as bob@link.example.com to join Acme.")
          .waitFor()
        await assertGood(bob)
        await bob.getByRole("link", { name: "Development One" }).click()
        await bob.getByLabel("Email address").fill("bob@link.example.com")
        await bob.getByRole("button", { name: "Sign in" }).click()
        await bob.getByRole("button", { name: "Accept the invitation to Acme" }).click()
        await bob.getByText("You are a member of Acme.").waitFor()
      } finally {
        await context.close()
      }
    }))

  it("without script, a team is made, a person invited, a wrong name explained, and a key created", () =>
    asPerson(
      "noscript@people.example.com",
      async (page) => {
        await newTeam(page, "Plain")
        await invite(page, "later@people.example.com")
        await open(page, "Settings")
        await page.getByLabel("Name", { exact: true }).first().fill("   ")
        await page.getByRole("button", { name: "Rename" }).click()
        await page.getByRole("alert").getByText("Use 1 to 128 characters").waitFor()
        await open(page, "API keys")
        await page.getByRole("link", { name: "Create API key" }).click()
        await page.getByLabel("Name").fill("plain")
        await page.getByRole("button", { name: "Create key" }).click()
        await page.getByText(/^nsk_[0-9A-Za-z]{49}$/).waitFor()
      },
      { javaScriptEnabled: false }
    ))
})

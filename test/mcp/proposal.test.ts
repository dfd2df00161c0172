/** The page of a proposal in a browser: docs/design/console.md W58. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { BrowserContext, Page } from "playwright-core"
import { newContext } from "../harness/browser.ts"
import { complaintsOf } from "../support/complaints.ts"
import { consoleTests } from "../support/consoleTests.ts"

const proposal = {
  project: "prj-01jd0000000000000000000000",
  branch: "br-01jd0000000000000000000000",
  name: "main",
  sql: "ALTER TABLE orders\n  ADD paid boolean; -- <b>not bold</b>",
  reason: "Orders can be paid. <script>alert(1)</script>"
}

describe("the page of a proposal", { tags: ["chromium"], timeout: 240_000 }, () => {
  const shared = consoleTests()
  let context: BrowserContext
  let page: Page
  let complaints: ReadonlyArray<string> = []
  const asked: Array<string> = []

  beforeAll(async () => {
    context = await newContext(shared.browser)
    page = await context.newPage()
    complaints = complaintsOf(page)
    page.on("request", (request) => asked.push(`${request.url()} ${request.postData() ?? ""}`))
  })
  afterAll(() => context?.close())

  const open = async (fragment: string) => {
    await page.goto("about:blank")
    await page.goto(`${shared.platform.ready.console}/proposal#${fragment}`)
  }
  const encoded = (shown: unknown) => Buffer.from(JSON.stringify(shown)).toString("base64url")

  it("the proposal is shown as text, and no server is sent any of it", async () => {
    await open(encoded(proposal))
    assert.strictEqual(await page.locator("#proposal-sql").textContent(), proposal.sql)
    assert.strictEqual(await page.locator("#proposal-reason").textContent(), proposal.reason)
    assert.strictEqual(
      await page.locator("#proposal-command").textContent(),
      `narthex psql ${proposal.project} --branch ${proposal.branch}`
    )
    assert.isTrue(await page.getByText("A program wrote everything below").isVisible())
    for (const request of asked) assert.notInclude(request, encoded(proposal).slice(0, 40))
    assert.deepStrictEqual(complaints, [])
  })

  it("a link that is cut off, or whose text hides characters or has more than ids in the command, shows nothing", async () => {
    const wrong = [
      "",
      encoded(proposal).slice(0, 50),
      encoded({ ...proposal, sql: "SELECT 1 \u202e--" }),
      encoded({ ...proposal, sql: "SELECT 1\u001b[2J" }),
      encoded({ ...proposal, branch: "br-1; rm -rf ~" }),
      encoded({ ...proposal, reason: undefined })
    ]
    for (const fragment of wrong) {
      await open(fragment)
      assert.isTrue(await page.getByText("This link has no proposal").isVisible(), fragment)
      assert.isFalse(await page.locator("#proposal-sql").isVisible(), fragment)
    }
  })
})

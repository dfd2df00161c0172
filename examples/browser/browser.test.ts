import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { createControlPlane } from "narthex"
import { build } from "rolldown"
import { sharedBrowser } from "../../test/harness/browser.ts"
import { makeService, makeSessions } from "./service.ts"

const bundled = async (): Promise<string> => {
  const { output } = await build({
    input: join(import.meta.dirname, "page.ts"),
    platform: "browser",
    tsconfig: false,
    resolve: { conditionNames: ["source", "import", "browser", "default"] },
    output: { format: "esm", codeSplitting: false, minify: true },
    logLevel: "warn",
    write: false
  })
  return output[0].code
}

describe("the page", { tags: ["chromium"], timeout: 120_000 }, () => {
  it("a page in a browser shows events as they happen", async () => {
    const sessions = makeSessions()
    await using cp = await createControlPlane({ hostSession: sessions.hostSession })
    const ada = await cp.people.ensure({ subject: "1", email: "ada@example.com", email_verified: true })
    const server = createServer(makeService(cp, await bundled()))
    await once(server.listen(0, "127.0.0.1"), "listening")
    const browser = await sharedBrowser()
    const context = await browser.newContext()
    context.setDefaultTimeout(60_000)
    try {
      const address = server.address()
      const page = await context.newPage()
      const connected = page.waitForResponse((response) => response.url().includes("/v1/events"))
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`
      const [, name = "", value = ""] = /^(\w+)=([^;]+)/.exec(sessions.begin(ada.id)) ?? []
      await context.addCookies([{ name, value, url }])
      await page.goto(url)
      assert.strictEqual((await connected).status(), 200)
      const client = cp.client(await cp.sessions.start(ada))
      await client.projects.create({ name: "shop" })
      await page.getByText("create_timeline: finished").waitFor()
    } finally {
      await context.close()
      await browser.close()
      server.close()
      server.closeAllConnections()
    }
  })
})

/**
 * The README's first ten minutes against a platform that the test starts. The blocks are those of the page except for
 * the addresses, because the page has the default ports, which exist once on a machine.
 *
 * `asWritten.ts` is the same walk without replacements, `npm start` included.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { sharedBrowser } from "../harness/browser.ts"
import { within } from "../harness/eventually.ts"
import { resource } from "../harness/resource.ts"
import { Platform } from "../support/Platform.ts"
import { ownAccount } from "../support/surroundings.ts"
import { Ground, root } from "./ground.ts"
import { signInWithBrowser } from "./signInWithBrowser.ts"
import { stablePorts } from "./stablePorts.ts"
import { type Stage, walk } from "./walk.ts"

/** Milliseconds for a whole walk. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 600_000

const readme = readFileSync(join(root, "README.md"), "utf8")

describe("the README's first ten minutes", { tags: ["psql", "curl"], timeout: hangGuard }, () => {
  const ground = new Ground()
  let platform: Platform
  let start: () => Promise<Platform>
  let typed: (text: string) => string

  beforeAll(async () => {
    await resource("build")
    const [api, web, one, two, proxy, admin] = await stablePorts(6)
    const environment = {
      ...ground.mark,
      NARTHEX_API_PORT: String(api),
      NARTHEX_CONSOLE_PORT: String(web),
      NARTHEX_DEV_PROVIDER_PORTS: `${one},${two}`,
      NARTHEX_PROXY_PORT: String(proxy),
      NARTHEX_ADMIN_PORT: String(admin)
    }
    const ports = new Map([4400, 4401, 4402].map((port, at) => [String(port), String([api, web, one][at])]))
    typed = (text) =>
      text.replaceAll(
        /\b127\.0\.0\.1:(\d+)/g,
        (_, port) => `127.0.0.1:${ports.get(port) ?? assert.fail(`port ${port}`)}`
      )
    start = () => Platform.start(ground.folder, ownAccount, environment)
    platform = await start()
  })

  afterAll(() => ground.leave())

  const stage = (signIn: boolean): Stage => {
    const { address, openTerminal } = ground.newcomer({ NARTHEX_URL: platform.ready.api })
    const browse = async () => {
      const browser = await sharedBrowser()
      try {
        await signInWithBrowser(browser, await address(), "ada@example.com")
      } finally {
        await browser.close()
      }
    }
    return {
      typed,
      openTerminal,
      ...(signIn ? { signIn: browse } : {}),
      metrics: async () => (await fetch(`${platform.ready.admin}/metrics`)).text(),
      kill: () => platform.kill(),
      startAgain: async () => {
        platform = await start()
      }
    }
  }

  it("the README's first ten minutes work as written, without a browser", async () => {
    for (const { run, sentence } of walk(readme, stage(false))) {
      const begun = performance.now()
      await run().catch((error: unknown) => {
        throw new Error(`${sentence}\n${error instanceof Error ? error.message : error}`, { cause: error })
      })
      console.info(`${((performance.now() - begun) / 1_000).toFixed(1)} s  ${sentence}`)
    }
  })

  it("the README's first ten minutes work with a browser", { tags: ["chromium"] }, async () => {
    const [login] = walk(readme, stage(true))
    await login?.run()
  })

  it("Ctrl-C after the README's first ten minutes leaves no process", async () => {
    await ground.closeTerminals()
    assert.isAbove(ground.leftovers().length, 1)
    assert.strictEqual(await within("the platform to stop", platform.stop()), 0)
    assert.deepStrictEqual(ground.leftovers(), [])
  })
})

/** The documentation in a browser: nothing pans sideways, axe finds nothing, nothing is blocked or asked of others; the search. */
import { mkdirSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sharedBrowser } from "../../../../test/harness/browser.ts"
import { long } from "../../../../test/harness/long.ts"
import { memoryApi } from "../support/apiOver.ts"
import { TestApi } from "../support/wire.ts"

const axe = createRequire(import.meta.url).resolve("axe-core")
const pictures = resolve(import.meta.dirname, "../../../../test-results/docs")

const paths = ["docs", "docs/reference", "docs/reference/regions", "docs/problems", "docs/guides/connecting"]

const both = [
  { width: 390, scheme: "light" },
  { width: 1440, scheme: "dark" }
] as const
const views = [
  ...both,
  ...(long
    ? ([
        { width: 390, scheme: "dark" },
        { width: 1440, scheme: "light" }
      ] as const)
    : [])
]

/** Milliseconds for a step in the browser, by the machine's clock. */
const pageLimit = 60_000

interface Found {
  readonly violations: ReadonlyArray<{ readonly id: string; readonly nodes: ReadonlyArray<{ readonly html: string }> }>
}

layer(memoryApi(), { excludeTestServices: true })("the documentation in a browser", (it) => {
  it.effect(
    "pages fit a phone and a desk, light and dark, axe finds nothing, and no other server is asked",
    () =>
      Effect.gen(function* () {
        const { port } = yield* TestApi
        const origin = `http://127.0.0.1:${port}`
        mkdirSync(pictures, { recursive: true })
        const wrong = yield* Effect.promise(async () => {
          const browser = await sharedBrowser()
          const wrong: Array<string> = []
          try {
            for (const { scheme, width } of views) {
              const context = await browser.newContext({
                viewport: { width, height: 900 },
                colorScheme: scheme,
                bypassCSP: false
              })
              context.setDefaultTimeout(pageLimit)
              const page = await context.newPage()
              page.on("request", (request) => {
                if (!request.url().startsWith(`${origin}/`)) wrong.push(`asked ${request.url()}`)
              })
              page.on("console", (message) => wrong.push(`said ${message.text()}`))
              for (const path of paths) {
                const name = `${path.replaceAll("/", "-")}-${width}-${scheme}`
                await page.goto(`${origin}/${path}`)
                await page.screenshot({ path: join(pictures, `${name}.png`) })
                const wide = await page.evaluate("document.documentElement.scrollWidth")
                if (Number(wide) > width) wrong.push(`${name} is ${wide} px wide`)
              }
              await context.close()
            }
            // The policy of the pages blocks scripts, so axe is injected where it is off.
            for (const { scheme, width } of both) {
              const context = await browser.newContext({
                viewport: { width, height: 900 },
                colorScheme: scheme,
                bypassCSP: true
              })
              context.setDefaultTimeout(pageLimit)
              const page = await context.newPage()
              for (const path of paths) {
                await page.goto(`${origin}/${path}`)
                await page.addScriptTag({ path: axe })
                const found: Found = await page.evaluate(
                  `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] })`
                )
                for (const { id, nodes } of found.violations)
                  wrong.push(`${path} ${width} ${scheme} ${id} ${nodes[0]?.html}`)
              }
              await context.close()
            }
          } finally {
            await browser.close()
          }
          return wrong
        })
        assert.deepStrictEqual(wrong, [])
      }),
    { tags: ["chromium"], timeout: 600_000 }
  )

  it.effect(
    "/ leads to the search, Enter to its best result, and a button copies a block of code",
    () =>
      Effect.gen(function* () {
        const { port } = yield* TestApi
        const origin = `http://127.0.0.1:${port}`
        yield* Effect.promise(async () => {
          const browser = await sharedBrowser()
          try {
            const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] })
            context.setDefaultTimeout(pageLimit)
            const page = await context.newPage()
            await page.goto(`${origin}/docs/guides/connecting`)
            await page.keyboard.press("/")
            await page.keyboard.type("create a project")
            const best = page.locator("search li a").first()
            await best.filter({ hasText: "POST /v1/projects" }).waitFor()
            await page.keyboard.press("ArrowDown")
            await page.keyboard.press("ArrowUp")
            await page.keyboard.press("Enter")
            await page.waitForURL(`${origin}/docs/reference/projects#projects.create`)
            const block = page.locator("[id='projects.create'] .code").first()
            await block.getByRole("button").click()
            await block.getByText("Copied").waitFor()
            assert.match(
              String(await page.evaluate("navigator.clipboard.readText()")),
              /^curl "\$NARTHEX_URL\/v1\/projects"/
            )
            await page.keyboard.press("/")
            await page.keyboard.type("no such words")
            await page.getByText("Nothing found.").waitFor()
            await page.keyboard.press("Escape")
            await page.getByText("Nothing found.").waitFor({ state: "hidden" })
          } finally {
            await browser.close()
          }
        })
      }),
    { tags: ["chromium"], timeout: 600_000 }
  )

  it.effect(
    "without script there is no search and no button, and every link works",
    () =>
      Effect.gen(function* () {
        const { port } = yield* TestApi
        yield* Effect.promise(async () => {
          const browser = await sharedBrowser()
          try {
            const context = await browser.newContext({ javaScriptEnabled: false })
            context.setDefaultTimeout(pageLimit)
            const page = await context.newPage()
            await page.goto(`http://127.0.0.1:${port}/docs/reference#projects.create`)
            assert.strictEqual(await page.locator("search, button").count(), 0)
            await page.locator("[id='projects.create'] a").click()
            await page.waitForURL("**/docs/reference/projects#projects.create")
            assert.strictEqual(await page.locator("search, button").count(), 0)
          } finally {
            await browser.close()
          }
        })
      }),
    { tags: ["chromium"], timeout: 600_000 }
  )
})

/** The reference of the API for browsers: small, cached, and from this server alone. */

import { get } from "node:http"
import { gunzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sharedBrowser } from "../../../test/harness/browser.ts"
import { memoryApi } from "./support/apiOver.ts"
import { call, TestApi } from "./support/wire.ts"

const bytesOf = (port: number, path: string, headers: Record<string, string>) =>
  Effect.callback<{ readonly encoding: string | undefined; readonly body: Buffer }>((resume) => {
    get({ host: "127.0.0.1", port, path, headers }, (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () =>
        resume(Effect.succeed({ encoding: incoming.headers["content-encoding"], body: Buffer.concat(chunks) }))
      )
    })
  })

layer(memoryApi(), { excludeTestServices: true })("/docs", (it) => {
  it.effect("the page is small and static, and its policy allows this server alone", () =>
    Effect.gen(function* () {
      const page = yield* call("GET", "/docs")
      assert.strictEqual(page.status, 200)
      assert.isBelow(page.text.length, 2_000)
      assert.notMatch(page.text, /https?:\/\//)
      const policy = page.headers["content-security-policy"] ?? ""
      for (const part of ["default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"])
        assert.include(policy, part)
      assert.match(page.headers["cache-control"] ?? "", /^public, max-age=\d+$/)
    })
  )

  it.effect("the script is compressed, immutable under its URL, and revalidated without a body", () =>
    Effect.gen(function* () {
      const { port } = yield* TestApi
      const { text } = yield* call("GET", "/docs")
      const url = `/${/src="(docs\/reference\.js\?v=[\w-]+)"/.exec(text)?.[1]}`
      const plain = yield* call("GET", url)
      assert.strictEqual(plain.headers["cache-control"], "public, max-age=31536000, immutable")
      const packed = yield* bytesOf(port, url, { "accept-encoding": "br, gzip" })
      assert.strictEqual(packed.encoding, "gzip")
      assert.isBelow(packed.body.length, 1_100_000)
      assert.strictEqual(gunzipSync(packed.body).toString(), plain.text)
      assert.isUndefined((yield* bytesOf(port, url, { "accept-encoding": "gzip;q=0" })).encoding)
      const again = yield* call("GET", url, { headers: { "if-none-match": plain.headers["etag"] ?? "" } })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
    })
  )

  it.effect(
    "a browser renders the reference, and asks no other server for anything",
    () =>
      Effect.gen(function* () {
        const { port } = yield* TestApi
        const origin = `http://127.0.0.1:${port}`
        const foreign = yield* Effect.promise(async () => {
          const browser = await sharedBrowser()
          try {
            const page = await (await browser.newContext()).newPage()
            const asked: Array<string> = []
            page.on("request", (request) => asked.push(request.url()))
            await page.goto(`${origin}/docs`)
            await page.getByRole("heading", { name: "Narthex", exact: false }).first().waitFor({ timeout: 60_000 })
            return asked.filter((url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url))
          } finally {
            await browser.close()
          }
        })
        assert.deepStrictEqual(foreign, [])
      }),
    { tags: ["chromium"], timeout: 120_000 }
  )
})

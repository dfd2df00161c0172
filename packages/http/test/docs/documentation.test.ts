/** The documentation that the server serves: whole, linked, cached, and without anything from elsewhere. */
import { globSync, readFileSync } from "node:fs"
import { get } from "node:http"
import { resolve } from "node:path"
import { gunzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { openApiDocument, problemCatalog } from "@narthex/api"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { call, TestApi } from "../support/wire.ts"

const root = resolve(import.meta.dirname, "../../../..")

const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Every page that can be reached from `/docs`: its path, and its text. */
const crawled = Effect.gen(function* () {
  const pages = new Map<string, string>()
  const open = ["/docs"]
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    if (pages.has(path)) continue
    const answer = yield* call("GET", path)
    assert.strictEqual(answer.status, 200, path)
    pages.set(path, answer.text)
    if (answer.headers["content-type"]?.startsWith("text/html"))
      open.push(...linksOf(path, answer.text).filter(isHere).map(pathOf))
  }
  return pages
})

const linksOf = (path: string, html: string) =>
  [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target = ""]) => new URL(target, `http://api.test${path}`))
const isOperation = (
  value: unknown
): value is {
  readonly operationId: string
  readonly security: ReadonlyArray<unknown>
  readonly tags: ReadonlyArray<string>
} => typeof value === "object" && value !== null && "operationId" in value && "security" in value && "tags" in value

const operations = Object.values(openApiDocument().paths).flatMap((item) =>
  Object.values(item).flatMap((operation) => (isOperation(operation) ? [operation] : []))
)

const isHere = ({ origin }: URL) => origin === "http://api.test"
const pathOf = ({ pathname, search }: URL) => pathname + search

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

layer(memoryApi(), { excludeTestServices: true })("the served documentation", (it) => {
  it.effect("every link of every page of the documentation leads to a page of this server, and to a place on it", () =>
    Effect.gen(function* () {
      const pages = yield* crawled
      // The overview, the index, the objects, the problems, the sheet, the script, the icon and the document.
      const others = 8
      const guides = globSync("docs/guides/*.md", { cwd: root }).length
      assert.strictEqual(pages.size, guides + (openApiDocument().tags ?? []).length + others)
      for (const [path, html] of pages)
        for (const link of /\.(json|js)\b/.test(path) ? [] : linksOf(path, html)) {
          // The console is the only other place.
          if (!isHere(link)) {
            assert.strictEqual(link.href, "http://console.test/", path)
            continue
          }
          const target = pages.get(pathOf(link)) ?? ""
          if (link.hash !== "")
            assert.include(target, `id="${decodeURIComponent(link.hash.slice(1))}"`, `${path}: ${link}`)
        }
    })
  )

  it.effect("the pages of the documentation have no inline script, style or form, and a policy that allows none", () =>
    Effect.gen(function* () {
      for (const path of (yield* crawled).keys()) {
        const { headers, text } = yield* call("GET", path)
        if (!headers["content-type"]?.startsWith("text/html")) continue
        assert.strictEqual(headers["content-security-policy"], policy, path)
        const script = /<script type="module" src="(?:\.\.\/)*docs\/search\.js\?v=[\w-]+"><\/script>/
        assert.notMatch(text.replace(script, ""), /<script|<style|<form|<iframe|style="|\son\w+="|javascript:/i, path)
      }
      const { text } = yield* call("GET", "/docs/style.css")
      assert.notMatch(text, /@import/)
      for (const [, url] of text.matchAll(/url\("([^"]*)"/g)) assert.match(url ?? "", /^inter\.woff2\?v=[\w-]+$/)
    })
  )

  it.effect("the page of a group has its calls, with a sample that sends the credential as a bearer", () =>
    Effect.gen(function* () {
      for (const { operationId, security, tags } of operations) {
        const { text } = yield* call("GET", `/docs/reference/${tags[0]?.toLowerCase().replaceAll(" ", "-")}`)
        const section = text.split(`<section class="call" id="${operationId}"`)[1]?.split("</section>")[0] ?? ""
        assert.include(section, "curl", operationId)
        const bearer = /Authorization: Bearer \$(NARTHEX_API_KEY|SESSION_TOKEN|NARTHEX_PROXY_TOKEN)/.test(section)
        assert.strictEqual(bearer, security.length > 0, operationId)
        assert.notInclude(text, "Basic ")
      }
    })
  )

  it.effect("the index of the reference has the anchor of every call and object, and a link to it", () =>
    Effect.gen(function* () {
      const { text } = yield* call("GET", "/docs/reference")
      const anchors = [...text.matchAll(/<li id="([^"]+)"><a href="reference\/[\w-]+#([^"]+)">/g)]
      for (const [, anchor, target] of anchors) assert.strictEqual(target, anchor)
      const listed = new Set(anchors.map(([, anchor]) => anchor))
      assert.isAbove(operations.length, 80)
      for (const { operationId } of operations) assert.include(listed, operationId)
      for (const name of ["Project", "Operation", "ApiKey"]) assert.include(listed, `object-${name}`)
    })
  )

  it.effect("a group that does not exist is not found", () =>
    Effect.gen(function* () {
      for (const group of ["nothing", "Projects", "..%2Fproblems"]) {
        const { headers, status, text } = yield* call("GET", `/docs/reference/${group}`)
        assert.deepStrictEqual([status, headers["content-type"]], [404, "application/problem+json"], group)
        assert.include(text, '"not_found"', group)
      }
    })
  )

  it.effect("the search has every guide, call and problem, each with a place on a page", () =>
    Effect.gen(function* () {
      const pages = yield* crawled
      const found: ReadonlyArray<{ readonly href: string }> = JSON.parse((yield* call("GET", "/docs/search.json")).text)
      const places = found.map(({ href }) => new URL(href, "http://api.test/"))
      for (const place of places) {
        const html = pages.get(pathOf(place)) ?? ""
        assert.include(html, place.hash === "" ? "<h1" : `id="${decodeURIComponent(place.hash.slice(1))}"`, place.href)
      }
      const anchors = new Set(places.map(({ hash }) => hash.slice(1)))
      for (const { operationId } of operations) assert.include(anchors, operationId)
      for (const code of Object.keys(problemCatalog)) assert.include(anchors, code)
      const paths = new Set(places.map(pathOf))
      for (const guide of globSync("*.md", { cwd: resolve(root, "docs/guides") }))
        assert.include(paths, `/docs/guides/${guide.replace(".md", "")}`)
    })
  )

  it.effect("/docs/ leads to /docs", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* call("GET", "/docs/")
      assert.deepStrictEqual([status, headers["location"]], [308, "/docs"])
    })
  )

  it.effect("a page is compressed for clients that take gzip, and revalidated without a body", () =>
    Effect.gen(function* () {
      const { port } = yield* TestApi
      for (const path of [
        "/docs",
        "/docs/reference",
        "/docs/reference/projects",
        "/docs/guides/errors",
        "/docs/style.css",
        "/docs/search.js",
        "/docs/search.json",
        "/openapi.json"
      ]) {
        const plain = yield* call("GET", path)
        const packed = yield* bytesOf(port, path, { "accept-encoding": "br, gzip" })
        assert.strictEqual(packed.encoding, "gzip", path)
        assert.isBelow(packed.body.length, 60_000, path)
        assert.strictEqual(gunzipSync(packed.body).toString(), plain.text, path)
        assert.isUndefined((yield* bytesOf(port, path, { "accept-encoding": "gzip;q=0" })).encoding, path)
        const tag = plain.headers["etag"] ?? ""
        for (const condition of [tag, `"other", ${tag}`, "*"]) {
          const again = yield* call("GET", path, { headers: { "if-none-match": condition } })
          assert.deepStrictEqual([again.status, again.text, again.headers["etag"]], [304, "", tag], path)
        }
        const other = yield* call("GET", path, { headers: { "if-none-match": '"other"' } })
        assert.strictEqual(other.status, 200, path)
      }
    })
  )

  it.effect("the font and the icon are the console's", () =>
    Effect.gen(function* () {
      const { port } = yield* TestApi
      for (const name of ["inter.woff2", "icon.svg"]) {
        const { body } = yield* bytesOf(port, `/docs/${name}`, {})
        assert.isTrue(body.equals(readFileSync(resolve(root, "packages/console/assets", name))), name)
      }
    })
  )

  it.effect("the style sheet is immutable under the URL that the pages name", () =>
    Effect.gen(function* () {
      const { text } = yield* call("GET", "/docs/guides/errors")
      const url = /href="(\.\.\/\.\.\/docs\/style\.css\?v=[\w-]+)"/.exec(text)?.[1] ?? ""
      const sheet = yield* call("GET", pathOf(new URL(url, "http://api.test/docs/guides/errors")))
      assert.strictEqual(sheet.headers["cache-control"], "public, max-age=31536000, immutable")
      assert.match(sheet.headers["content-type"] ?? "", /^text\/css/)
    })
  )
})

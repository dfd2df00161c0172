/**
 * `/docs`, the reference of the API for a browser: a page of a few hundred bytes, and one script that is immutable
 * under its URL.
 *
 * The script is the Scalar reference that the framework bundles, with the call that starts it, so that the page needs
 * no inline script. It reads `/openapi.json`. Everything comes from this server: the policy of the page allows no other
 * origin, and Scalar's fonts and telemetry are off. The script is made when the first browser asks, once, and
 * compressed once.
 *
 * Pitfall: serving the framework's page. It is 3.4 MB for each request, without a policy, and asks a third party for
 * fonts.
 */
import { Api } from "@narthex/api"
import { sha256 } from "@narthex/core"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

/** The paths of these pages, relative to the API. */
export const docsPaths = ["/docs", "/docs/reference.js"] as const

/** What starts the reference; it is read in the browser. */
const start = `
;window.Scalar.createApiReference(document.getElementById("reference"), {
  url: new URL("openapi.json", document.location.href).href,
  telemetry: false,
  withDefaultFonts: false
})
`

const page = (version: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Narthex API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The same contract for programs: <a href="openapi.json">openapi.json</a></noscript>
<script src="docs/reference.js?v=${version}"></script>
</body>
</html>
`

/** Styles are inline in Scalar's components; scripts, connections and everything else are this server's alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** The script of Scalar, taken from the page that the framework renders, which is its public form. */
const scalarScript = Effect.promise(async () => {
  // 3 MB of source, which most processes never need.
  const HttpApiScalar = await import("effect/http-api/HttpApiScalar")
  const { dispose, handler } = HttpRouter.toWebHandler(HttpApiScalar.layer(Api), { disableLogger: true })
  const html = await (await handler(new Request("http://localhost/docs"))).text()
  await dispose()
  const begin = html.indexOf("<script>")
  const end = html.lastIndexOf("</script>", html.lastIndexOf("window.Scalar.createApiReference("))
  if (begin === -1 || end <= begin) throw new Error("The framework's page of the API reference has an unknown form.")
  return html.slice(begin + "<script>".length, end)
})

const gzip = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer()
  )

const makeScript = Effect.gen(function* () {
  const script = (yield* scalarScript) + start
  const version = (yield* sha256(script)).slice(0, 16)
  const plain = new TextEncoder().encode(script)
  const compressed = yield* Effect.promise(() => gzip(plain))
  return { plain, compressed, version }
})

const takesGzip = (accepted: string | undefined) =>
  (accepted ?? "").split(",").some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding))

/** The routes of both pages. */
export const layerDocs = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const script = yield* Effect.cached(makeScript)
    yield* router.add(
      "GET",
      docsPaths[0],
      Effect.map(script, ({ version }) =>
        HttpServerResponse.html(page(version)).pipe(
          HttpServerResponse.setHeaders({
            "content-security-policy": policy,
            "referrer-policy": "no-referrer",
            "cache-control": "public, max-age=300"
          })
        )
      )
    )
    yield* router.add(
      "GET",
      docsPaths[1],
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { compressed, plain, version } = yield* script
        const common = {
          etag: `"${version}"`,
          vary: "accept-encoding",
          "cache-control": "public, max-age=31536000, immutable"
        }
        if (headers["if-none-match"] === common.etag) return HttpServerResponse.empty({ status: 304, headers: common })
        const zipped = takesGzip(headers["accept-encoding"])
        return HttpServerResponse.uint8Array(zipped ? compressed : plain, {
          contentType: "text/javascript; charset=utf-8",
          headers: zipped ? { ...common, "content-encoding": "gzip" } : common
        })
      })
    )
  })
)

/**
 * `/docs`: the guides, the reference and the problems as plain pages, and `/openapi.json`.
 *
 * The pages are whole without their script, and their policy allows nothing but the files of this server. They are made
 * when the first reader asks, and compressed once; the code that makes them is loaded then.
 *
 * Pitfall: absolute links between the pages. The API may be mounted below any path.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { answerWith } from "./CachedPage.ts"

/** The guides in the order of a reader: pages of `docs/guides`. */
export const guideNames = [
  "first-call",
  "connecting",
  "not-offered",
  "waiting",
  "errors",
  "idempotency",
  "pagination",
  "rate-limits",
  "events",
  "webhooks",
  "allowlists",
  "ci",
  "agents"
] as const

type Path = `/${string}`

const pagePaths: ReadonlyArray<Path> = [
  "/docs",
  "/docs/reference",
  "/docs/reference/:group",
  "/docs/problems",
  ...guideNames.map((name) => `/docs/guides/${name}` as const)
]

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const immutable = { "cache-control": "public, max-age=31536000, immutable" }
const revalidated = { "cache-control": "no-cache" }

/** path → its type and headers */
const served: ReadonlyArray<readonly [path: Path, contentType: string, headers: Readonly<Record<string, string>>]> = [
  ["/openapi.json", "application/json", revalidated],
  ["/docs/style.css", "text/css; charset=utf-8", immutable],
  ["/docs/inter.woff2", "font/woff2", immutable],
  ["/docs/search.js", "text/javascript; charset=utf-8", immutable],
  ["/docs/search.json", "application/json", revalidated],
  ["/docs/icon.svg", "image/svg+xml", immutable],
  ...pagePaths.map(
    (path) =>
      [
        path,
        "text/html; charset=utf-8",
        { ...revalidated, "content-security-policy": policy, "referrer-policy": "no-referrer" }
      ] as const
  )
]

/** The paths of the documentation, relative to the API. */
export const docsPaths: ReadonlyArray<string> = [...served.map(([path]) => path), "/docs/"]

/** The routes of the documentation. */
export const layerDocs = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const pages = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./makePages.ts")),
        ({ makePages }) => makePages(guideNames)
      )
    )
    for (const [path, contentType, headers] of served) {
      const answer = Effect.gen(function* () {
        const { group } = yield* HttpRouter.params
        const page = (yield* pages).get(group === undefined ? path : `/docs/reference/${group}`)
        return page === undefined
          ? HttpServerResponse.empty({ status: 404 })
          : yield* answerWith(page, contentType, headers)
      })
      yield* router.add("GET", path, answer)
    }
    yield* router.add("GET", "/docs/", Effect.succeed(HttpServerResponse.redirect("/docs", { status: 308 })))
  })
)

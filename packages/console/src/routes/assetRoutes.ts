/** The static files, and the liveness probe. */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { type Asset, assets } from "../web/Assets.ts"

const alive: ConsoleRoute = {
  method: "GET",
  path: "/livez",
  answer: Effect.succeed(HttpServerResponse.jsonUnsafe({ status: "ok" }, { headers: { "cache-control": "no-store" } }))
}

/** The best encoding that the browser accepts. A quality of 0 refuses one. */
const encodingFor = (accepted: string | undefined, { encoded }: Asset) => {
  const names = (accepted ?? "").split(",").filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
  const accepts = (name: string) => names.some((part) => part.trim().split(";")[0] === name)
  if (encoded.br !== undefined && accepts("br")) return { name: "br", content: encoded.br }
  if (encoded.gzip !== undefined && accepts("gzip")) return { name: "gzip", content: encoded.gzip }
  return undefined
}

const answerWith = (asset: Asset) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const encoding = encodingFor(headers["accept-encoding"], asset)
    return HttpServerResponse.uint8Array(encoding?.content ?? asset.content, {
      contentType: asset.type,
      headers: {
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(encoding === undefined ? {} : { "content-encoding": encoding.name })
      }
    })
  })

export const assetRoutes: ReadonlyArray<ConsoleRoute> = [
  alive,
  ...assets.map((asset) => ({ method: "GET" as const, path: asset.path, answer: answerWith(asset) }))
]

/** The static files, and the liveness probe. */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { type Asset, type AssetEncoding, assets } from "../web/Assets.ts"

const alive: ConsoleRoute = {
  method: "GET",
  path: "/livez",
  answer: Effect.succeed(HttpServerResponse.jsonUnsafe({ status: "ok" }, { headers: { "cache-control": "no-store" } }))
}

/** The best encoding that the browser accepts. A quality of 0 refuses one. */
const encodingFor = (accepted: string | undefined, { encodings }: Asset): AssetEncoding | undefined => {
  const names = (accepted ?? "").split(",").filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
  return encodings.find((encoding) => names.some((part) => part.trim().split(";")[0] === encoding))
}

const answerWith = (asset: Asset) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const encoding = encodingFor(headers["accept-encoding"], asset)
    const content = encoding === undefined ? asset.content : yield* Effect.promise(() => asset.encoded(encoding))
    return HttpServerResponse.uint8Array(content, {
      contentType: asset.type,
      headers: {
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(encoding === undefined ? {} : { "content-encoding": encoding })
      }
    })
  })

export const assetRoutes: ReadonlyArray<ConsoleRoute> = [
  alive,
  ...assets.map((asset) => ({ method: "GET" as const, path: asset.path, answer: answerWith(asset) }))
]

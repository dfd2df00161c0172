/** The static files, and the liveness probe. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { assets } from "../web/Assets.ts"

const alive: ConsoleRoute = {
  method: "GET",
  path: "/livez",
  answer: Effect.succeed(HttpServerResponse.jsonUnsafe({ status: "ok" }, { headers: { "cache-control": "no-store" } }))
}

export const assetRoutes: ReadonlyArray<ConsoleRoute> = [
  alive,
  ...assets.map(({ content, path, type }) => ({
    method: "GET" as const,
    path,
    answer: Effect.succeed(
      HttpServerResponse.uint8Array(content, {
        contentType: type,
        headers: { "cache-control": "public, max-age=31536000, immutable" }
      })
    )
  }))
]

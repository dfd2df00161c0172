/** `/openapi.json`: the OpenAPI document, made and compressed when the first client asks. */
import { openApiDocument } from "@narthex/api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { answerWith, makeCachedPage } from "./CachedPage.ts"

/** Relative to the API. */
export const documentPath = "/openapi.json"

export const layerDocument = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const page = yield* Effect.cached(Effect.suspend(() => makeCachedPage(JSON.stringify(openApiDocument()))))
    yield* router.add(
      "GET",
      documentPath,
      Effect.flatMap(page, (made) => answerWith(made, "application/json", { "cache-control": "no-cache" }))
    )
  })
)

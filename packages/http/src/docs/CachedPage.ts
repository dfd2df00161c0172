/**
 * A static answer that clients and caches keep: compressed once, and revalidated by `ETag` without a body.
 *
 * The two forms of a page have one `ETag`, marked as weak, because they are the same page.
 */
import { sha256 } from "@narthex/core"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

export interface CachedPage {
  readonly plain: Uint8Array<ArrayBuffer>
  readonly compressed: Uint8Array<ArrayBuffer>
  /** A digest of the content, for an `ETag` and for URLs. */
  readonly version: string
}

const gzip = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer()
  )

/** `plain`: the bytes of content that is no text, of which `text` is another form. */
export const makeCachedPage = Effect.fnUntraced(function* (text: string, plain = new TextEncoder().encode(text)) {
  const compressed = yield* Effect.promise(() => gzip(plain))
  const page: CachedPage = { plain, compressed, version: (yield* sha256(text)).slice(0, 16) }
  return page
})

const takesGzip = (accepted: string | undefined) =>
  (accepted ?? "").split(",").some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding))

/** Whether `If-None-Match` names the tag, which is compared weakly (RFC 9110, 13.1.2). */
const names = (tag: string, condition = ""): boolean =>
  condition
    .split(",")
    .map((part) => part.trim())
    .some((part) => part === "*" || part.replace(/^W\//, "") === tag.replace(/^W\//, ""))

/** The page as an answer to the running request. `headers` are those of every answer with it, 304 included. */
export const answerWith = (page: CachedPage, contentType: string, headers: Readonly<Record<string, string>>) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const etag = `W/"${page.version}"`
    const common = { ...headers, etag, vary: "accept-encoding" }
    if (names(etag, request.headers["if-none-match"])) return HttpServerResponse.empty({ status: 304, headers: common })
    const zipped = takesGzip(request.headers["accept-encoding"])
    return HttpServerResponse.uint8Array(zipped ? page.compressed : page.plain, {
      contentType,
      headers: zipped ? { ...common, "content-encoding": "gzip" } : common
    })
  })

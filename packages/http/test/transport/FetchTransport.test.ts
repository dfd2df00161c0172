/** Whether a `Request` has a body, where no header says so (docs/design/api.md, Requests). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { FetchTransport } from "../../src/transport/FetchTransport.ts"
import { Transport } from "../../src/transport/Transport.ts"

const requestOf = (start: (body: ReadableStreamDefaultController<Uint8Array>) => void) => {
  // The standard asks for `duplex`, and the types do not have it.
  const init: RequestInit & { readonly duplex: "half" } = {
    method: "POST",
    body: new ReadableStream({ start }),
    duplex: "half"
  }
  return HttpServerRequest.fromWeb(new Request("http://api.example/v1/projects", init))
}

describe("a body of unknown length", () => {
  it.effect("counts if it has bytes, and does not if it is empty", () =>
    Effect.gen(function* () {
      const { hasBody } = yield* Transport
      assert.isFalse(yield* hasBody(requestOf((body) => body.close())))
      assert.isTrue(yield* hasBody(requestOf((body) => body.enqueue(Uint8Array.of(1)))))
    }).pipe(Effect.provide(FetchTransport.layer))
  )

  it.effect("counts when it does not begin within a second, so that it holds no call", () =>
    Effect.gen(function* () {
      const { hasBody } = yield* Transport
      const asked = yield* Effect.forkChild(hasBody(requestOf(() => {})), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* Fiber.join(asked))
    }).pipe(Effect.provide(FetchTransport.layer))
  )
})

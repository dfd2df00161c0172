/** An open stream does not hold the console's end. */
import { get } from "node:http"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { consoleLayer, consoleUrl } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

it.live("shutdown ends the streams first and does not wait for its grace", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(consoleLayer(), scope)
    const stream = yield* Effect.gen(function* () {
      const { browser } = yield* signedInAs("open@example.com")
      const url = `${yield* consoleUrl}/api/events`
      return yield* Effect.promise(
        () =>
          new Promise<{ readonly ended: Promise<boolean> }>((resolve, reject) => {
            get(url, { headers: { cookie: browser.cookieHeader } }, (response) => {
              const ended = new Promise<boolean>((done) => response.once("end", () => done(response.complete)))
              response.once("data", () => resolve({ ended }))
              response.on("error", reject)
            }).once("error", reject)
          })
      )
    }).pipe(Effect.provide(context))
    const before = performance.now()
    yield* Scope.close(scope, Exit.void)
    assert.isBelow(performance.now() - before, 3_000, "the grace is ten seconds")
    assert.isTrue(yield* Effect.promise(() => stream.ended))
  })
)

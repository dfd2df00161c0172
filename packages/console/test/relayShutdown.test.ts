/** An open event stream does not delay shutdown. */
import { get } from "node:http"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import { within } from "../../../test/harness/eventually.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

it.live("shutdown of the console ends open relays and does not wait for the grace period", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layerTestConsole({}, {}, Duration.hours(1)), scope)
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
    yield* Effect.promise(() =>
      within("the console to end before its grace", Effect.runPromise(Scope.close(scope, Exit.void)))
    )
    assert.isTrue(yield* Effect.promise(() => within("the stream to end", stream.ended)))
  })
)

/** The control plane as layers: the services, and the API on a host's own router. */
import { assert, describe, it } from "@effect/vitest"
import { Authentication, People, Sessions } from "@narthex/core"
import { strictRouting } from "@narthex/http/web"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ControlPlane, type HttpOptions } from "../src/index.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true, name: "Ada" }

describe("the control plane as layers", () => {
  it.live("the services of the core sign a person in", () =>
    Effect.gen(function* () {
      const person = yield* (yield* People).ensure(ada)
      const session = yield* (yield* Sessions).start(person.id, { user_agent: null, address: null })
      const caller = yield* (yield* Authentication).authenticate(session.access_token, null)
      assert.strictEqual(caller.user.email, "ada@example.com")
    }).pipe(Effect.provide(ControlPlane.layer()))
  )

  it("the API is below its base path on the host's router, and the host's routes keep their answers", async () => {
    const routes = Layer.merge(
      ControlPlane.layerHttp({ basePath: "/control" }).pipe(Layer.provide(ControlPlane.layer())),
      HttpRouter.add("GET", "/about", HttpServerResponse.text("the host"))
    )
    const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true, routerConfig: strictRouting })
    const ask = (path: string, init?: RequestInit) => handler(new Request(`http://localhost${path}`, init))
    assert.strictEqual(await (await ask("/about")).text(), "the host")
    assert.strictEqual((await ask("/control/readyz")).status, 200)
    const refused = await ask("/control/v1/regions")
    assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
    assert.strictEqual((await ask("/control/v1/regions", { method: "DELETE" })).status, 405)
    const none = await ask("/nowhere")
    assert.deepStrictEqual([none.status, await none.text()], [404, ""], "the host's own 404")
    await dispose()
  })

  it.effect("the API is not mounted with options that do not fit, and the failure names them", () =>
    Effect.gen(function* () {
      const wrongs: ReadonlyArray<readonly [wrong: unknown, says: string]> = [
        [{ basePath: "control" }, "basePath: expected a path"],
        [{ basePath: "/control/../v1" }, "basePath: expected a path"],
        [{ basePath: 42 }, "options.basePath: expected text"],
        [{ path: "/control" }, "options.path: there is no such member"],
        [{ grace: "soon" }, "grace: expected a Duration"],
        [{ grace: -1 }, "grace: expected a Duration"],
        [{ grace: "Infinity" }, "grace: expected a Duration"],
        [null, "options: expected an object"]
      ]
      for (const [wrong, says] of wrongs) {
        // A program without types may pass this.
        const routes = ControlPlane.layerHttp(wrong as HttpOptions)
        const mounted = HttpRouter.toHttpEffect(Layer.provide(routes, ControlPlane.layer({ runner: false })))
        const failure = yield* Effect.flip(Effect.asVoid(Effect.scoped(mounted)))
        assert.deepInclude(failure, { code: "invalid_options" })
        assert.isTrue(String(failure).includes(says), `${says}: ${String(failure)}`)
      }
    })
  )

  it.effect("streams are not ended below a base path: `layerDraining` has no such member", () =>
    Effect.gen(function* () {
      const misplaced: HttpOptions = { basePath: "/control" }
      const draining = Layer.provide(ControlPlane.layerDraining(misplaced), ControlPlane.layer({ runner: false }))
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(draining)))
      assert.deepInclude(failure, { code: "invalid_options" })
      assert.include(String(failure), "options.basePath: there is no such member")
    })
  )
})

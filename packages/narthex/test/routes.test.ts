/** The routes of the API are built for the first request (docs/design/library.md N37). */
import { assert, describe, it } from "@effect/vitest"
import { EndpointStore } from "@narthex/core"
import { FetchServer } from "@narthex/http/web"
import { Duration, Effect, Layer, Tracer } from "effect"
import { within } from "../../../test/harness/eventually.ts"
import { ControlPlane, createControlPlane, memory } from "../src/index.ts"

const asking = () => new Request("http://localhost/openapi.json")

const Server = FetchServer.layer(Duration.seconds(1)).pipe(Layer.provide(ControlPlane.layer({ runner: false })))

describe("the routes of a control plane", () => {
  it.live("the first requests build the routes, once for all of them, and the start does not", () => {
    const spans: Array<string> = []
    const tracer = Tracer.make({
      span: (options) => {
        spans.push(options.name)
        return new Tracer.NativeSpan(options)
      }
    })
    const builds = () => spans.filter((name) => name === "FetchServer.routes").length
    return Effect.gen(function* () {
      const { answer } = yield* FetchServer
      assert.strictEqual(builds(), 0)
      const ask = () => answer(asking(), { target: "/openapi.json", prefix: "", address: null })
      const answers = yield* Effect.promise(() => Promise.all([ask(), ask(), ask()]))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200]
      )
      assert.strictEqual(builds(), 1)
    }).pipe(Effect.provide(Server), Effect.provideService(Tracer.Tracer, tracer))
  })

  it("a first request is answered although the control plane closes", async () => {
    const cp = await createControlPlane({ log: "off" })
    const answer = cp.fetch(asking())
    await within("the end", cp.close())
    assert.strictEqual((await answer).status, 200)
  })

  it("an instance records that it can receive reports of proxies before the first request", async () => {
    const recorded = Promise.withResolvers<void>()
    const Noting = Layer.effect(
      EndpointStore,
      Effect.map(EndpointStore, (store) =>
        EndpointStore.of({ ...store, noteReceiving: Effect.sync(() => recorded.resolve()) })
      )
    )
    const storage = { durable: false, layer: Layer.provideMerge(Noting, memory().layer) }
    await using _ = await createControlPlane({ log: "off", storage })
    await within("the record", recorded.promise)
  })
})

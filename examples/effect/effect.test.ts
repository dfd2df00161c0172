import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { People, Sessions } from "@narthex/core"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import { within } from "../../test/harness/eventually.ts"
import { layerService } from "./service.ts"

/** The URL of the service, and the session of a person with a client of the API. */
const serving = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const baseUrl = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  const person = { subject: "1", email: "ada@example.com", email_verified: true, name: "Ada" }
  const ada = yield* (yield* People).ensure(person)
  const { access_token } = yield* (yield* Sessions).start(ada.id, { user_agent: null, address: null })
  const credential = Redacted.value(access_token)
  return { baseUrl, client: createClient({ baseUrl: `${baseUrl}/control`, credential }), credential }
})

describe("a service on Effect's router", () => {
  it.live("the service serves the API below its path, and asks the control plane about its own callers", () =>
    Effect.gen(function* () {
      const { baseUrl, client } = yield* serving
      yield* Effect.promise(async () => {
        const [shop, other] = [
          (await client.projects.create({ name: "shop" })).project,
          (await client.projects.create({ name: "other" })).project
        ]
        const { secret } = await client.apiKeys.create({ name: "ci", capability: "read", scope: `project:${shop.id}` })
        const ask = (project: string, key: string | null) =>
          fetch(`${baseUrl}/reports/${project}`, { headers: { authorization: `Bearer ${key}` } })

        assert.deepStrictEqual(await (await ask(shop.id, secret)).json(), { report: "…", for: "ada@example.com" })
        const refused = await ask(other.id, secret)
        assert.strictEqual(refused.status, 403)
        assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
        assert.strictEqual((await refused.json()).code, "scope_insufficient")
        assert.strictEqual((await ask(shop.id, "nsk_forged")).status, 401)
        assert.strictEqual((await fetch(`${baseUrl}/reports/${shop.id}`)).status, 401)
        assert.strictEqual((await fetch(`${baseUrl}/v1/regions`)).status, 404, "the API is below its path alone")
      })
    }).pipe(Effect.provide(layerService(0)))
  )

  it("the end of the service ends the event streams first, and does not wait for their clients", async () => {
    const scope = Scope.makeUnsafe()
    const service = await Effect.runPromise(Layer.buildWithScope(layerService(0), scope))
    const { baseUrl, credential } = await Effect.runPromise(Effect.provideContext(serving, service))
    const headers = { authorization: `Bearer ${credential}` }
    const { body } = await fetch(`${baseUrl}/control/v1/events`, { headers })
    const stream = (body ?? assert.fail("There is no stream.")).getReader()
    assert.isFalse((await within("the first frame", stream.read())).done)

    await within("the end of the service", Effect.runPromise(Scope.close(scope, Exit.void)))
    const rest = async () => {
      while (!(await stream.read()).done);
    }
    await within("the end of the stream", rest())
  })
})

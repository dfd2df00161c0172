/** The API on memory storage and a free port, for tests of your own client. It needs no database and keeps no state. */
import { ApiKeys, Authentication, Sessions } from "@narthex/core"
import { layerApiServer } from "@narthex/http"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { embedded } from "./embedInMemory.ts"
import { idToken } from "./people.ts"

export class MemoryServer extends Context.Service<MemoryServer, { readonly url: string }>()(
  "@narthex/examples/MemoryServer"
) {
  static readonly layer = Layer.effect(
    MemoryServer,
    Effect.map(HttpServer.HttpServer, ({ address }) => ({
      url: `http://127.0.0.1:${"port" in address ? address.port : 0}`
    }))
  ).pipe(
    Layer.provide(layerApiServer({ host: "127.0.0.1", port: 0, grace: Duration.millis(200) })),
    Layer.provideMerge(embedded)
  )
}

/** The URL of the API, and a key of a signed-in user. */
export const keySettings = Effect.gen(function* () {
  const { url } = yield* MemoryServer
  const device = { user_agent: null, address: null }
  const { access_token } = yield* (yield* Sessions).exchange(idToken("grace@example.com"), device)
  const caller = yield* (yield* Authentication).authenticate(access_token, null)
  if (caller.kind !== "session") return yield* Effect.die(new Error("The caller is not a session."))
  const wanted = { name: "script", capability: "read_write", expires_in_days: 1 } as const
  const { secret } = yield* (yield* ApiKeys).create(caller, { ...wanted, scope: { type: "organization" } })
  return { baseUrl: url, credential: secret }
})

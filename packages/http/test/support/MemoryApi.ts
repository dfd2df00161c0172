/** The whole API on a free port over memory ports: what HTTP tests talk to. */
import { randomBytes } from "node:crypto"
import { HttpServer } from "effect/http"
import {
  Entropy,
  IdentityProvider,
  InvalidIdToken,
  KeyDigester,
  layerMemoryComputes,
  layerMemoryPorts,
  layerRunner,
  layerServices,
  ProviderView,
  RegionCatalog,
  RegionId,
  TokenSigner
} from "@narthex/core"
import { Context, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { Draining, layerApiServer, ServerIdentity } from "../../src/index.ts"

/** Believes `email:<address>`: the tests of real providers are elsewhere. */
const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "test", name: "Test", issuer: "https://issuer.test" })],
  verify: ({ id_token }) => {
    const [kind, email, salt = ""] = Redacted.value(id_token).split(":")
    if (kind !== "email" || email === undefined) return Effect.fail(new InvalidIdToken({ cause: "not believed" }))
    return Effect.succeed({
      provider: "test",
      issuer: "https://issuer.test",
      subject: email,
      email,
      email_verified: true,
      name: null,
      token_digest: `${email} ${salt}`,
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
  }
})

export const proxyToken = "proxy-token-of-the-tests"

const Seeded = Layer.effectDiscard(Effect.flatMap(RegionCatalog, (catalog) => catalog.seed([RegionId.make("local")])))

export const Ports = layerMemoryPorts.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Entropy.layer,
      Believer,
      layerMemoryComputes,
      KeyDigester.layer({ id: "test", key: Redacted.make(new Uint8Array(randomBytes(32))) })
    )
  )
)

/** Where the API listens. */
export class TestApi extends Context.Service<TestApi, { readonly url: string }>()("test/TestApi") {}

const Url = Layer.effect(
  TestApi,
  Effect.map(HttpServer.HttpServer, ({ address }) => {
    if (!("port" in address)) throw new Error("The test server listens on a socket file.")
    return { url: `http://127.0.0.1:${address.port}` }
  })
)

export const MemoryApi = Url.pipe(
  Layer.provideMerge(layerApiServer({ host: "127.0.0.1", port: 0, grace: Duration.millis(200) })),
  Layer.provideMerge(Layer.merge(layerRunner, Seeded)),
  Layer.provideMerge(layerServices),
  Layer.provideMerge(Draining.layer),
  Layer.provideMerge(TokenSigner.layerMemory),
  Layer.provideMerge(Ports),
  Layer.provideMerge(
    Layer.succeed(ServerIdentity, {
      console_url: "http://console.test",
      origin: { trusted_hops: 0, console_token: null },
      proxy_token: Redacted.make(proxyToken),
      cli_latest: "0.1.0",
      heartbeat: Duration.seconds(15)
    })
  )
)

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Bodies are read member by member by tests that assert on each.
  readonly body: any
}

/** One call; a body is sent as JSON. */
export const call = (
  method: string,
  path: string,
  options: { readonly token?: string; readonly body?: unknown; readonly headers?: Record<string, string> } = {}
) =>
  Effect.flatMap(TestApi, ({ url }) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
          ...(options.body === undefined ? {} : { "content-type": "application/json" }),
          ...options.headers
        },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) })
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
    })
  )

/** Signs somebody in and answers the session's token. */
export const signIn = (email: string) =>
  Effect.map(
    call("POST", "/v1/auth/exchange", { body: { id_token: `email:${email}:${randomBytes(8).toString("hex")}` } }),
    (answer): string => answer.body.access_token
  )

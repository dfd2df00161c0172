/**
 * The HTTP client of the process, on `node:http`: that of `fetch` takes longer to load than the rest of the command
 * line.
 *
 * It follows redirects as `fetch` does: without the credential where the origin changes.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"

/** The agents of Node itself, which keep connections open. Each is loaded by the first request that needs it. */
const agents = Layer.succeed(NodeHttpClient.HttpAgent, {
  get http() {
    return process.getBuiltinModule("node:http").globalAgent
  },
  get https() {
    return process.getBuiltinModule("node:https").globalAgent
  }
})

/** As many as `fetch` follows. */
const mostRedirects = 20

export const layerNodeHttp: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.followRedirects(mostRedirects))
).pipe(Layer.provide(Layer.provide(NodeHttpClient.layerNodeHttpNoAgent, agents)))

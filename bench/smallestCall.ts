/**
 * The smallest command line of Effect that makes one call, for `cliStart.ts`: its parser, its typed client with one endpoint,
 * and `node:http`, bundled as `narthex` is.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Schema } from "effect"
import { Command } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApi, HttpApiClient, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

const { NARTHEX_API_KEY = "", NARTHEX_URL = "" } = process.env

const Whoami = Schema.Struct({ user: Schema.Struct({ id: Schema.String }) })

const api = HttpApi.make("api").add(
  HttpApiGroup.make("auth").add(HttpApiEndpoint.get("whoami", "/v1/auth/whoami", { success: Whoami }))
)

const whoami = Command.make("whoami", {}, () =>
  Effect.gen(function* () {
    const client = yield* HttpApiClient.make(api, {
      baseUrl: NARTHEX_URL,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(NARTHEX_API_KEY))
    })
    const { user } = yield* client.auth.whoami()
    yield* Console.log(user.id)
  })
)

const agents = Layer.succeed(NodeHttpClient.HttpAgent, {
  get http() {
    return process.getBuiltinModule("node:http").globalAgent
  },
  get https() {
    return process.getBuiltinModule("node:https").globalAgent
  }
})

const program = Command.runWith(Command.make("smallest").pipe(Command.withSubcommands([whoami])), { version: "1" })
const layer = Layer.merge(Layer.provide(NodeHttpClient.layerNodeHttpNoAgent, agents), NodeServices.layer)

NodeRuntime.runMain(Effect.provide(program(["whoami"]), layer))

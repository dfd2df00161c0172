/**
 * The whole console as routes on whatever router is there, and the services behind them.
 *
 * It is a client of the API like any other; the session is in the browser's cookie, so instances share nothing but the
 * cookie key.
 */
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { NarthexClient } from "@narthex/api"
import { assetRoutes } from "./Assets.ts"
import { type ConsoleConfig, ConsoleSettings } from "./ConsoleConfig.ts"
import { allowlistRoutes } from "./routes/allowlistRoutes.ts"
import { cliRoutes } from "./routes/cliRoutes.tsx"
import { eventRoutes } from "./routes/eventRoutes.ts"
import { keyRoutes } from "./routes/keyRoutes.tsx"
import { organizationRoutes } from "./routes/organizationRoutes.ts"
import { projectRoutes } from "./routes/projectRoutes.tsx"
import { signInRoutes } from "./routes/signInRoutes.tsx"
import { SealedCookies } from "./sessions/SealedCookies.ts"
import { Sessions } from "./sessions/Sessions.ts"
import { SignIn } from "./sessions/SignIn.ts"
import { everyRequest } from "./web/everyRequest.tsx"
import { type ConsoleRoute, serveRoutes } from "./web/routes.ts"

const alive: ConsoleRoute = {
  method: "GET",
  path: "/livez",
  answer: Effect.succeed(HttpServerResponse.jsonUnsafe({ status: "ok" }, { headers: { "cache-control": "no-store" } }))
}

/** Every route of the console. */
export const consoleRoutes: ReadonlyArray<ConsoleRoute> = [
  alive,
  ...assetRoutes,
  ...signInRoutes,
  ...organizationRoutes,
  ...projectRoutes,
  ...allowlistRoutes,
  ...keyRoutes,
  ...cliRoutes,
  ...eventRoutes
]

/** Puts the console on the router. `Relays` is left to the caller, who ends them before the server closes. */
export const consoleLayer = (config: ConsoleConfig) =>
  Layer.merge(serveRoutes(consoleRoutes), everyRequest).pipe(
    Layer.provide([Sessions.layer, SealedCookies.layer, SignIn.layer]),
    Layer.provide([
      Layer.succeed(ConsoleSettings, ConsoleSettings.from(config)),
      NarthexClient.layerFetch({ baseUrl: config.api_url })
    ])
  )

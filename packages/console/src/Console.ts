/**
 * The whole console: its routes on the given router, and the services behind them. The console is a client of the API
 * like any other. The session is in the browser's cookie, so instances share only the cookie key.
 */
import { NarthexClient } from "@narthex/api"
import { Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { type ConsoleConfig, ConsoleSettings } from "./ConsoleConfig.ts"
import { type ConsoleRoute, layerRoutes } from "./requests/ConsoleRoute.ts"
import { layerMiddleware } from "./requests/middleware.tsx"
import { accountRoutes } from "./routes/accountRoutes.tsx"
import { activityRoutes } from "./routes/activityRoutes.tsx"
import { allowlistRoutes } from "./routes/allowlistRoutes.tsx"
import { apiKeyRoutes } from "./routes/apiKeyRoutes.tsx"
import { assetRoutes } from "./routes/assetRoutes.ts"
import { auditRoutes } from "./routes/auditRoutes.tsx"
import { branchRoutes } from "./routes/branchRoutes.tsx"
import { cliRoutes } from "./routes/cliRoutes.tsx"
import { componentRoutes } from "./routes/componentRoutes.tsx"
import { credentialRoutes } from "./routes/credentialRoutes.tsx"
import { docsRoutes } from "./routes/docsRoutes.ts"
import { endpointRoutes } from "./routes/endpointRoutes.tsx"
import { eventRoutes } from "./routes/eventRoutes.ts"
import { invitationRoutes } from "./routes/invitationRoutes.tsx"
import { memberRoutes } from "./routes/memberRoutes.tsx"
import { operationRoutes } from "./routes/operationRoutes.tsx"
import { organizationRoutes } from "./routes/organizationRoutes.ts"
import { organizationSettingsRoutes } from "./routes/organizationSettingsRoutes.tsx"
import { placeRoutes } from "./routes/placeRoutes.ts"
import { projectListRoutes } from "./routes/projectListRoutes.tsx"
import { projectRoutes } from "./routes/projectRoutes.tsx"
import { projectSettingsRoutes } from "./routes/projectSettingsRoutes.tsx"
import { proposalRoutes } from "./routes/proposalRoutes.tsx"
import { regionRoutes } from "./routes/regionRoutes.tsx"
import { sandboxRoutes } from "./routes/sandboxRoutes.tsx"
import { signInRoutes } from "./routes/signInRoutes.tsx"
import { themeRoutes } from "./routes/themeRoutes.ts"
import { webhookRoutes } from "./routes/webhookRoutes.tsx"
import { SealedCookies } from "./sessions/SealedCookies.ts"
import { Sessions } from "./sessions/Sessions.ts"
import { SignIn } from "./sessions/SignIn.ts"

/** Every route of the console. */
export const routes: ReadonlyArray<ConsoleRoute> = [
  ...assetRoutes,
  ...signInRoutes,
  ...organizationRoutes,
  ...organizationSettingsRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...memberRoutes,
  ...accountRoutes,
  ...activityRoutes,
  ...regionRoutes,
  ...invitationRoutes,
  ...projectListRoutes,
  ...projectRoutes,
  ...branchRoutes,
  ...sandboxRoutes,
  ...credentialRoutes,
  ...endpointRoutes,
  ...operationRoutes,
  ...allowlistRoutes,
  ...projectSettingsRoutes,
  ...apiKeyRoutes,
  ...cliRoutes,
  ...proposalRoutes,
  ...eventRoutes,
  ...themeRoutes,
  ...placeRoutes,
  ...docsRoutes,
  ...componentRoutes
]

/** Adds the console to the router. The caller provides `Relays` and ends them before it closes the server. */
export const layerConsole = (config: ConsoleConfig) =>
  Layer.merge(layerRoutes(routes), layerMiddleware).pipe(
    Layer.provide([Sessions.layer, SealedCookies.layer, SignIn.layer]),
    Layer.provide([
      Layer.succeed(ConsoleSettings, ConsoleSettings.from(config)),
      NarthexClient.layer({ baseUrl: config.api_url, retries: false }).pipe(Layer.provide(layerSending(config)))
    ])
  )

/** The API answers no call with a redirect, and credentials follow none. */
const layerSending = ({ api_client }: ConsoleConfig): Layer.Layer<HttpClient.HttpClient> =>
  api_client === undefined
    ? FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })))
    : Layer.succeed(HttpClient.HttpClient, api_client)

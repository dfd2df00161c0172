/** Every storage port of the core on one SQLite database. */
import { Layer } from "effect"
import { Sqlite } from "./Sqlite.ts"
import { layerAccounts } from "./stores/accounts.ts"
import { layerClientRefusals } from "./stores/clientRefusals.ts"
import { layerCredentials } from "./stores/credentials.ts"
import { layerEndedRecords } from "./stores/endedRecords.ts"
import { layerEndpoints } from "./stores/endpoints.ts"
import { layerEvents } from "./stores/events.ts"
import { layerOperations } from "./stores/operations.ts"
import { layerProjects } from "./stores/projects.ts"
import { layerQuotas } from "./stores/quotas.ts"
import { layerRequests } from "./stores/requests.ts"

/** `path` is a file, or `:memory:` for a database that ends with the layer. One process at a time uses a file. */
export const sqliteStorage = (path: string) =>
  Layer.mergeAll(
    layerCredentials.pipe(Layer.provideMerge(layerAccounts)),
    layerEndedRecords,
    layerClientRefusals.pipe(Layer.provideMerge(Layer.merge(layerEndpoints, layerProjects))),
    layerEvents,
    layerOperations,
    layerQuotas,
    layerRequests
  ).pipe(Layer.provide(Sqlite.layer(path)))

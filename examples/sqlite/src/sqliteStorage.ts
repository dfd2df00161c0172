/** Every storage port of the core on one SQLite database. */
import { OverviewStore } from "@narthex/core"
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
    layerCredentials,
    layerEndedRecords,
    layerClientRefusals,
    // It reads through the other stores. Nothing is slow about that in one process.
    OverviewStore.layerMemory
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(layerAccounts, layerEndpoints, layerProjects)),
    Layer.provideMerge(Layer.mergeAll(layerEvents, layerOperations, layerQuotas, layerRequests)),
    Layer.provide(Sqlite.layer(path))
  )

/** What runs Postgres for branches (`NARTHEX_COMPUTE`). */
import { type ComputeDriver, layerMemoryComputes } from "@narthex/core"
import type { Settings } from "@narthex/http"
import { LocalComputeDriver, type LocalPostgresFailure } from "@narthex/local-postgres"
import type { Layer } from "effect"
import { layerStaticComputes } from "./staticComputes.ts"

export const layerComputes = (settings: Settings): Layer.Layer<ComputeDriver, LocalPostgresFailure> => {
  switch (settings.compute) {
    case "local":
      return LocalComputeDriver.layer({ dataDir: settings.data_dir, binaries: settings.postgres_bin ?? undefined })
    case "static":
      return layerStaticComputes(settings.static_endpoints)
    case "memory":
      return layerMemoryComputes
  }
}

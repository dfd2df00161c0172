/** What runs Postgres for branches (`NARTHEX_COMPUTE`), on instances with the role `runner`. */
import { ComputeDriver, ComputeFailed, layerMemoryComputes, type StorageError } from "@narthex/core"
import { LocalComputeDriver, type LocalPostgresFailure } from "@narthex/local-postgres"
import type { Database } from "@narthex/postgres"
import { Effect, Layer } from "effect"
import { layerStaticComputes } from "./adapters/staticComputes.ts"
import { type ComputesElsewhere, claimHome, type HomeUnusable } from "./computeHome.ts"
import type { Settings } from "./settings/Settings.ts"

type Failure = ComputesElsewhere | HomeUnusable | LocalPostgresFailure | StorageError
type Computes = Layer.Layer<ComputeDriver, Failure, Database>

/**
 * The driver of an instance that runs no operations: it needs no Postgres programs and no directory for clusters.
 *
 * Pitfall: reporting that no compute runs. Every compute of the runner would count as lost. A failure says that this
 * instance cannot tell, and the stored records apply.
 */
const layerElsewhere = Layer.sync(ComputeDriver, () => {
  const elsewhere = Effect.fail(
    new ComputeFailed({ reason: "Computes run on instances with the role `runner`.", retryable: true })
  )
  return ComputeDriver.of({
    createBranch: () => elsewhere,
    resetBranch: () => elsewhere,
    deleteBranch: () => elsewhere,
    start: () => elsewhere,
    stop: () => elsewhere,
    applyRoles: () => elsewhere,
    needsRoles: () => elsewhere,
    running: elsewhere,
    diskUsage: elsewhere
  })
})

/** The processes of this machine; with NARTHEX_COMPUTE_STANDBY it waits while another process holds them. */
const layerLocal = (settings: Settings) => {
  const options = {
    dataDir: settings.data_dir,
    computeDir: settings.compute_dir ?? undefined,
    cpuGroup: settings.cpu_group ?? undefined,
    binaries: settings.postgres_bin ?? undefined
  }
  const patience = settings.compute_standby
  return patience === null
    ? LocalComputeDriver.layer(options)
    : LocalComputeDriver.layerStandby({ ...options, patience })
}

export const layerComputes = (settings: Settings, isRunner: boolean): Computes => {
  if (!isRunner) return layerElsewhere
  switch (settings.compute) {
    case "local":
      return Layer.provide(
        layerLocal(settings),
        // The embedded store is in the directory itself.
        settings.database === null ? Layer.empty : Layer.effectDiscard(claimHome(settings.data_dir))
      )
    case "static":
      return layerStaticComputes([
        ...settings.static_computes,
        ...settings.static_endpoints.map((address) => ({ address, admin_url: null, tls: null }))
      ])
    case "memory":
      return layerMemoryComputes
  }
}

/** The driver that runs Postgres for branches (`NARTHEX_COMPUTE`), on instances with the role `runner`. */
import { ComputeDriver, ComputeFailed, layerMemoryComputes, type RegionId, type StorageError } from "@narthex/core"
import { LocalComputeDriver, type LocalPostgresFailure } from "@narthex/local-postgres"
import type { Database } from "@narthex/postgres"
import { Effect, Layer, Schema } from "effect"
import { layerStaticComputes } from "./adapters/staticComputes.ts"
import { type ComputesElsewhere, claimHome, type HomeOfAnother, type HomeUnusable } from "./computeHome.ts"
import { type KubernetesRefused, layerKubernetes } from "./kubernetes.ts"
import type { Settings } from "./settings/Settings.ts"

/** All databases would share the account of the platform. */
export class SharedAccount extends Schema.TaggedError<SharedAccount>()("SharedAccount", {}) {
  override get message() {
    return "The platform does not run as root, so all databases would share its account: a session that breaks out of its Postgres could read and end all of them, the store included. Start it as root, run computes elsewhere (NARTHEX_COMPUTE=static), or set NARTHEX_COMPUTE_SHARED_ACCOUNT=accept."
  }
}

/** Whether local computes share the account of this process. */
export const sharesAccount = ({ compute }: Pick<Settings, "compute">): boolean =>
  compute === "local" && process.getuid?.() !== 0

/** Fails where computes would share the account of a platform in production that has not accepted it. */
export const checkAccount = (settings: Settings) => {
  if (!sharesAccount(settings) || settings.compute_shared_account === "accept") return Effect.void
  return settings.mode.name === "production"
    ? Effect.fail(new SharedAccount())
    : Effect.logWarning("The platform does not run as root: all databases share its account.")
}

type Failure =
  | ComputesElsewhere
  | HomeOfAnother
  | HomeUnusable
  | KubernetesRefused
  | LocalPostgresFailure
  | SharedAccount
  | StorageError
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
    uids: settings.compute_uids,
    binaries: settings.postgres_bin ?? undefined
  }
  const patience = settings.compute_standby
  return patience === null
    ? LocalComputeDriver.layer(options)
    : LocalComputeDriver.layerStandby({ ...options, patience })
}

export const layerComputes = (settings: Settings, region: RegionId, isRunner: boolean): Computes => {
  if (!isRunner) return layerElsewhere
  switch (settings.compute) {
    case "local":
      return Layer.provide(
        Layer.provide(layerLocal(settings), Layer.effectDiscard(checkAccount(settings))),
        Layer.effectDiscard(claimHome(settings.data_dir, region))
      )
    case "static":
      return layerStaticComputes(settings.static_computes)
    case "kubernetes":
      return settings.kubernetes === null ? layerElsewhere : layerKubernetes(settings.kubernetes)
    case "memory":
      return layerMemoryComputes
  }
}

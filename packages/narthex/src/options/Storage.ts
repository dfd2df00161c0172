/**
 * Where a control plane keeps its state: in memory, in Postgres, or in anything that has the ports of the core.
 *
 * Pitfall: importing the Postgres adapter here. A program in memory, on a worker for example, would load a driver.
 */
import { layerMemoryPorts, type StorageError } from "@narthex/core"
import { Effect, Layer, Redacted } from "effect"
import { invalidOptions } from "../failures/failures.ts"

/** The ports that a storage provides. Their suites are in `@narthex/core/testing`. */
export type StoragePorts = Layer.Success<typeof layerMemoryPorts>

export interface Storage {
  /** Does the state outlive the process? Then the control plane needs a `secret` that does, too. */
  readonly durable: boolean
  readonly layer: Layer.Layer<StoragePorts, StorageError>
}

/** State that ends with the control plane. The default. */
export const memory = (): Storage => ({ durable: false, layer: Layer.fresh(layerMemoryPorts) })

export interface PostgresOptions {
  /** The most connections of this process. Default: 20. */
  readonly maxConnections?: number
  /** The direct URL for LISTEN where `url` leads through a pooler, or `off` for none: then the log is polled. */
  readonly listenUrl?: string
  /** The name of the sessions on the server. Default: `narthex`. */
  readonly applicationName?: string
}

/**
 * State in Postgres 15 or newer, under any number of processes. The schema is brought up to date at each start.
 *
 * @example
 * await createControlPlane({ storage: postgres("postgresql://localhost/shop"), secret: process.env.NARTHEX_SECRET })
 */
export const postgres = (url: string, options: PostgresOptions = {}): Storage => ({
  durable: true,
  layer: Layer.unwrap(
    Effect.map(
      Effect.promise(() => {
        if (!((options.maxConnections ?? 1) >= 1)) throw invalidOptions("storage: maxConnections is at least 1.")
        return import("@narthex/postgres")
      }),
      ({ Database, migrate, PostgresStorage }) => {
        const { applicationName = "narthex", listenUrl, maxConnections = 20 } = options
        const listening =
          listenUrl === undefined
            ? {}
            : { listenUrl: listenUrl === "off" ? ("off" as const) : Redacted.make(listenUrl) }
        return PostgresStorage.layer.pipe(
          Layer.provide(Layer.effectDiscard(migrate)),
          Layer.provideMerge(Database.layer({ url: Redacted.make(url), maxConnections, applicationName, ...listening }))
        )
      }
    )
  )
})

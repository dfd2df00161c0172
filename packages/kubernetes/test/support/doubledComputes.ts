/** The driver on the double, and what its tests ask of both. */
import { PgClient } from "@effect/sql-pg"
import { type Compute, type ComputeDriver, type ComputeRole, makeRoleSecret } from "@narthex/core"
import { accessOf, KubernetesComputeDriver } from "@narthex/kubernetes"
import { Effect, Layer, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { namespaces } from "./api/resources.ts"
import { type Kubernetes, KubernetesDouble } from "./KubernetesDouble.ts"

export const namespace = "computes"

type Options = Partial<Omit<Parameters<typeof KubernetesComputeDriver.layer>[0], "access">>

/** Options under which the driver works on the double. */
export const optionsOn = (kubernetes: Kubernetes, options: Options = {}) => ({
  storage_class: "fast",
  snapshot_class: "fast",
  namespace,
  storage: "1Gi",
  image: kubernetes.image,
  platform_networks: ["127.0.0.0/8"],
  ...options
})

/** A driver of its own on the double of the context: several are several runners. */
export const driverOn = (options: Options = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const kubernetes = yield* KubernetesDouble
      if (kubernetes.store.find(namespaces, "", namespace) === undefined)
        kubernetes.store.create(namespaces, "", { metadata: { name: namespace } })
      const access = yield* accessOf(kubernetes.kubeconfig)
      return KubernetesComputeDriver.layer({ access, ...optionsOn(kubernetes, options) })
    })
  )

/** A driver, and the double that it works on. */
export const doubledComputes = (options: Options = {}): Layer.Layer<ComputeDriver | KubernetesDouble, unknown> =>
  driverOn(options).pipe(Layer.provideMerge(KubernetesDouble.layer))

export const mint = Effect.fnUntraced(function* (access: ComputeRole["access"] = "read_write") {
  const { password, role, verifier } = yield* makeRoleSecret
  const minted: ComputeRole = { role, verifier, access, expires_at: Option.none() }
  return { minted, password: Redacted.value(password) }
})
export type Minted = Effect.Success<ReturnType<typeof mint>>

/** Opens a session as the proxy does: at the address of the compute, over TLS that its reach says how to verify. */
export const sessionAt = ({ address, reach }: Compute, role: string, password: string) => {
  const { hostname, port } = new URL(`tcp://${address}`)
  const tls = reach?.tls
  return Effect.provide(
    PgClient.makeClient({
      host: hostname,
      port: Number(port),
      ssl: { ca: tls?.ca ?? undefined, servername: tls?.server_name },
      database: "postgres",
      username: role,
      password: Redacted.make(password),
      connectTimeout: "60 seconds"
    }),
    Reactivity.layer
  )
}

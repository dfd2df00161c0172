/**
 * `narthex-proxy`: the Postgres proxy alone, against the control plane at `NARTHEX_API_INTERNAL_URL` or
 * `NARTHEX_API_URL`.
 *
 * The admin port opens first and closes last: it says why the process is not ready while it waits for the control plane
 * and while its sessions end.
 */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { hostPort } from "./addresses.ts"
import { layerAdmin, type Unready } from "./admin.ts"
import { controlPlaneAnswers, watchControlPlane } from "./controlPlaneAnswers.ts"
import { checkListeners, listenersOf } from "./listeners.ts"
import { processInfo } from "./processMetrics.ts"
import { layerProxy, ProxyState } from "./proxy.ts"
import { endsWithParent } from "./proxyProcesses.ts"
import { CannotStart, program, runProcess, withSettings } from "./run.ts"

const main = withSettings(false, (settings, addresses) =>
  Effect.gen(function* () {
    const { token } = settings.proxy
    if (token === null)
      return yield* new CannotStart({
        reason: "NARTHEX_PROXY_TOKEN is not set. Set the token that the control plane has."
      })
    // Several processes that one has started share the port of the proxy.
    const isFirst = process.send === undefined
    const names = isFirst ? (["admin", "proxy"] as const) : (["admin"] as const)
    if (isFirst) yield* Effect.forEach(settings.warnings, (sentence) => Effect.logWarning(sentence))
    yield* checkListeners(listenersOf({ ...addresses, dev_providers: null }, settings, names))
    const url = settings.api.internal_url ?? addresses.api.url
    let unready: Unready = Effect.succeed("The control plane has not answered yet.")
    const proxy = new ProxyState()
    yield* Layer.build(
      layerAdmin(
        addresses.admin,
        Effect.suspend(() => unready),
        (own) => proxy.metrics(own),
        processInfo(settings.region, ["proxy"])
      )
    )
    yield* controlPlaneAnswers(url, token)
    yield* Layer.build(layerProxy({ addresses, region: settings.region, settings }, token, url, proxy))
    const silent = yield* watchControlPlane(url, token)
    unready = Effect.filterOrElse(
      silent,
      (reason) => reason !== undefined,
      () => proxy.unready
    )
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        unready = Effect.succeed("The proxy is stopping.")
      })
    )
    const line = {
      ready: true,
      pid: process.pid,
      proxy: hostPort(addresses.proxy),
      admin: `http://${hostPort(addresses.admin)}`
    }
    yield* Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))
    return yield* Effect.never
  }).pipe(Effect.provide(FetchHttpClient.layer))
)

if (process.send !== undefined) endsWithParent()
runProcess(program({ name: "narthex-proxy", does: "Serve the Postgres proxy of a control plane" }, main))

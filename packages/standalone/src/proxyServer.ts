/** `narthex-proxy`: the Postgres proxy alone, against the control plane at `NARTHEX_API_URL`. */
import { Effect, Layer } from "effect"
import { layerProxy } from "./platform.ts"
import { CannotStart, runProcess, withSettings } from "./run.ts"

const main = withSettings(false, (settings, addresses) =>
  Effect.gen(function* () {
    const { token } = settings.proxy
    if (token === null)
      return yield* new CannotStart({
        reason: "Set NARTHEX_PROXY_TOKEN: the token that the control plane knows this proxy by."
      })
    yield* Layer.build(layerProxy({ addresses, settings }, token))
    const { host, port } = addresses.proxy
    yield* Effect.sync(
      () => void process.stdout.write(`${JSON.stringify({ ready: true, proxy: `${host}:${port}` })}\n`)
    )
    return yield* Effect.never
  })
)

runProcess(main)

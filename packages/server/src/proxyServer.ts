/** `narthex-proxy`: the Postgres proxy alone, against the control plane at `NARTHEX_API_URL`. */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { hostPort } from "./announce.ts"
import { controlPlaneAnswers } from "./controlPlaneAnswers.ts"
import { layerProxy } from "./platform.ts"
import { CannotStart, runProcess, withSettings } from "./run.ts"

const main = withSettings(false, (settings, addresses) =>
  Effect.gen(function* () {
    const { token } = settings.proxy
    if (token === null)
      return yield* new CannotStart({
        reason: "NARTHEX_PROXY_TOKEN is not set. Set the token that the control plane has."
      })
    yield* Effect.provide(controlPlaneAnswers(addresses.api.url, token), FetchHttpClient.layer)
    yield* Layer.build(layerProxy({ addresses, settings }, token))
    const line = JSON.stringify({ ready: true, proxy: hostPort(addresses.proxy) })
    yield* Effect.sync(() => void process.stdout.write(`${line}\n`))
    return yield* Effect.never
  })
)

runProcess(main)

/** Traces and metrics to an OpenTelemetry collector, if `OTEL_EXPORTER_OTLP_ENDPOINT` names one. */
import { Layer, Redacted, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import type { Settings } from "./settings/Settings.ts"
import { version } from "./version.ts"

const pairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").map((pair) => {
      const at = pair.indexOf("=")
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    })
  )

export const layerTelemetry = ({ region, telemetry }: Pick<Settings, "region" | "telemetry">): Layer.Layer<never> =>
  telemetry === null
    ? // Without a collector no span is read, and making them is a twelfth of the cost of a request.
      Layer.succeed(References.TracerEnabled, false)
    : Otlp.layer({
        baseUrl: telemetry.endpoint,
        resource: { serviceName: "narthex", serviceVersion: version, attributes: region === null ? {} : { region } },
        ...(telemetry.headers === null ? {} : { headers: pairs(Redacted.value(telemetry.headers)) }),
        shutdownTimeout: "2 seconds"
      }).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]))

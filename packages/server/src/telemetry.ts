/** Traces and metrics to an OpenTelemetry collector, if `OTEL_EXPORTER_OTLP_ENDPOINT` names one. */
import { hostname } from "node:os"
import { Layer, Redacted, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import type { Addresses } from "./addresses.ts"
import type { Settings } from "./settings/Settings.ts"
import { version } from "./version.ts"

const pairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").map((pair) => {
      const at = pair.indexOf("=")
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    })
  )

/**
 * The process that all signals are of. The instance has a name that outlives a restart, and that Prometheus has for it where it
 * scrapes this machine by name. `OTEL_RESOURCE_ATTRIBUTES` adds attributes, such as the environment.
 */
const resourceOf = ({ region }: Pick<Settings, "region">, { admin }: Pick<Addresses, "admin">) => ({
  serviceName: "narthex",
  serviceVersion: version,
  attributes: { "service.instance.id": `${hostname()}:${admin.port}`, ...(region === null ? {} : { region }) }
})

export const layerTelemetry = (
  settings: Pick<Settings, "region" | "telemetry">,
  addresses: Pick<Addresses, "admin">
): Layer.Layer<never> => {
  const { telemetry } = settings
  return telemetry === null
    ? // Without a collector no span is read, and making them is a twelfth of the cost of a request.
      Layer.succeed(References.TracerEnabled, false)
    : Otlp.layer({
        baseUrl: telemetry.endpoint,
        resource: resourceOf(settings, addresses),
        ...(telemetry.headers === null ? {} : { headers: pairs(Redacted.value(telemetry.headers)) }),
        shutdownTimeout: "2 seconds"
      }).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]))
}

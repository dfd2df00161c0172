/** The typed client, for a browser or a worker: a call over the `fetch` of the runtime. */
import { NarthexClient } from "@narthex/api"
import { Effect, Redacted } from "effect"

const program = Effect.gen(function* () {
  const { api } = yield* NarthexClient
  const { regions } = yield* api.regions.list()
  return { regions: regions.map(({ region_id }) => region_id) }
})

const client = NarthexClient.layerFetch({ baseUrl: "https://api.example.com", credential: Redacted.make("nsk_secret") })

/** The regions that the API lists. */
export const run = () => Effect.runPromise(Effect.provide(program, client))

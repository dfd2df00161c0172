/** The sizes that an endpoint can be given. An API of an older version has none. */
import { Effect } from "effect"
import { calling, refusedWith } from "./ApiRefusal.ts"

export const readSizes = calling((api) => api.endpoints.sizes({})).pipe(
  Effect.map(({ sizes }) => sizes),
  Effect.catchIf(refusedWith("not_found"), () => Effect.succeed([]))
)

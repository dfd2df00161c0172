/** `create_compute`: make an endpoint usable. It takes no machine until its first start. */
import { Effect } from "effect"
import { type Action, noPromise } from "../Action.ts"
import { settleEndpoint } from "../settleEndpoint.ts"

export const createCompute: Action = {
  ...noPromise,
  begin: () => Effect.succeed("go"),
  perform: () => Effect.succeed(null),
  complete: (operation) => settleEndpoint(operation, { current_state: "idle" }),
  giveUp: () => Effect.void
}

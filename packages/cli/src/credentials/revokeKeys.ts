/**
 * Asks servers to revoke stored keys: best effort, all at once, within five seconds. Whoever calls this goes on whatever
 * comes of it, so nothing here fails; what did not work out is a warning.
 */
import { Effect } from "effect"
import { Connection } from "../connection/Connection.ts"
import { explain } from "../explain.ts"
import { Output } from "../output/Output.ts"
import type { StoredContext } from "./StoredContexts.ts"

export const revokeKeys = Effect.fn("revokeKeys")(function* (
  contexts: ReadonlyArray<readonly [name: string, context: StoredContext]>
) {
  const connection = yield* Connection
  const output = yield* Output
  const revoked = yield* Effect.forEach(
    contexts,
    ([name, { key, secret, url }]) =>
      Effect.gen(function* () {
        const { api } = yield* connection.withKey(url, secret)
        yield* api.apiKeys.revokeSelf()
        return [name]
      }).pipe(
        Effect.timeoutOrElse({
          duration: "5 seconds",
          orElse: () => complain(name, key.id, `${url} did not answer in time.`)
        }),
        Effect.catchTag("InvalidTokenProblem", () =>
          Effect.as(output.note(`The key of context "${name}" was revoked or had expired before.`), [])
        ),
        Effect.catch((failure) => complain(name, key.id, explain(failure).sentence))
      ),
    { concurrency: "unbounded" }
  )
  return revoked.flat()

  function complain(name: string, id: string, why: string): Effect.Effect<Array<string>> {
    return Effect.as(
      output.warn(`The key ${id} of context "${name}" was not revoked: ${why} You can revoke it in the console.`),
      []
    )
  }
})

/** Stores new keys and revokes stored ones. */
import { Effect } from "effect"
import { Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { contextNamed, type StoredContext, withContext } from "../contexts/StoredContexts.ts"
import { explain } from "../failures/explain.ts"
import { Output } from "../output/Output.ts"

/**
 * Stores the context, makes it current, then revokes the key that it replaces. In this order, a failure leaves the user
 * with a working key.
 */
export const storeKey = Effect.fn("storeKey")(function* (name: string, context: StoredContext) {
  const file = yield* ContextFile
  // Read inside the change: of two logins to the same context at once, the later one replaces the key of the other.
  const replaced: Array<readonly [string, StoredContext]> = []
  yield* file.change((stored) => {
    const present = contextNamed(stored, name)
    replaced.length = 0
    if (present !== undefined && present.key.id !== context.key.id) replaced.push([name, present])
    return withContext(stored, name, context)
  })
  yield* revokeKeys(replaced)
})

/**
 * Revokes stored keys on their servers: concurrently, with a deadline of five seconds. It never fails, because the keys
 * are deleted from this machine in any case; a key that is not revoked is a warning. Returns the names of the contexts
 * whose keys are revoked.
 */
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
          orElse: () => warn(name, key.id, `${url} did not answer in time.`)
        }),
        Effect.catchTag("InvalidTokenProblem", () =>
          Effect.as(output.note(`The key of context "${name}" had already expired or been revoked.`), [])
        ),
        Effect.catch((failure) => warn(name, key.id, explain(failure).sentence))
      ),
    { concurrency: "unbounded" }
  )
  return revoked.flat()

  function warn(name: string, id: string, why: string): Effect.Effect<Array<string>> {
    return Effect.as(
      output.warn(`The key ${id} of context "${name}" was not revoked: ${why} You can revoke it in the console.`),
      []
    )
  }
})

/**
 * What comes after a key was found, in the order that never leaves a person without one: the new key is stored, and only
 * then the key that it replaced is revoked.
 */
import { Effect } from "effect"
import { CredentialsFile } from "../credentials/CredentialsFile.ts"
import { revokeKeys } from "../credentials/revokeKeys.ts"
import { contextNamed, type StoredContext, withContext } from "../credentials/StoredContexts.ts"

/** The context becomes current. */
export const keepKey = Effect.fn("keepKey")(function* (name: string, context: StoredContext) {
  const file = yield* CredentialsFile
  const replaced = contextNamed(yield* file.read, name)
  yield* file.change((stored) => withContext(stored, name, context))
  if (replaced !== undefined && replaced.key.id !== context.key.id) yield* revokeKeys([[name, replaced]])
})

/**
 * `narthex logout` (docs/design/cli.md C3): revokes the stored keys on their servers, and deletes the file whatever the
 * result. It asks no question and exits with 0, because a server must not prevent the removal of a key from a machine.
 *
 * Pitfall: deleting after the responses. Ctrl-C while a server does not respond would leave the file, so the deletion
 * is a finalizer.
 */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { ContextFile } from "../contexts/ContextFile.ts"
import { ContextFlag } from "../contexts/ContextFlag.ts"
import { contextNamed, noContexts, type StoredContexts, withoutContext } from "../contexts/StoredContexts.ts"
import { Environment } from "../environment/Environment.ts"
import { isSameServer, readServerUrl } from "../environment/serverUrl.ts"
import { NoSuchContext } from "../failures/LocalFailure.ts"
import { revokeKeys } from "../login/storedKeys.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { sentence } from "../output/table.ts"

/** Removes all contexts, and the file. */
const removeAllContexts = Effect.fn("removeAllContexts")(function* () {
  const file = yield* ContextFile
  const output = yield* Output
  const stored = yield* Effect.catch(file.read, (failure) => Effect.as(output.warn(failure.message), noContexts))
  yield* warnOfOtherServer(stored)
  const contexts = Object.entries(stored.contexts)
  let end: "deleted" | "absent" | "kept" = "kept"
  const revoked = yield* output.waiting("Revoking", revokeKeys(contexts)).pipe(
    Effect.ensuring(
      Effect.matchEffect(file.remove, {
        onFailure: (failure) => output.warn(failure.message),
        onSuccess: (removed) =>
          Effect.sync(() => {
            end = removed ? "deleted" : "absent"
          })
      })
    )
  )
  yield* output.answer({
    body: { signed_out: contexts.map(([name]) => name), revoked },
    table: sentence(
      {
        deleted: "Signed out; the stored keys are deleted.",
        absent: "You were not signed in; nothing is stored.",
        kept: `${revoked.length === contexts.length ? "The stored keys are revoked" : "Some stored keys may still be valid"}, but ${file.path} could not be deleted. Delete it yourself.`
      }[end]
    )
  })
})

/** Removes one context, if there is one. */
const leaveContext = Effect.fn("leaveContext")(function* (name: string) {
  const file = yield* ContextFile
  const output = yield* Output
  if (contextNamed(yield* file.read, name) !== undefined) return yield* removeContext(name)
  yield* output.answer({
    body: { signed_out: [], revoked: [] },
    table: sentence(`There is no context "${name}"; nothing was deleted.`)
  })
})

/** Removes one context; fails without it. */
export const removeContext = Effect.fn("removeContext")(function* (name: string) {
  const file = yield* ContextFile
  const output = yield* Output
  const stored = yield* file.read
  const context = contextNamed(stored, name)
  if (context === undefined)
    return yield* new NoSuchContext({ message: `There is no context "${name}".`, hint: "narthex context list" })
  let deleted = false
  const revoked = yield* output.waiting("Revoking", revokeKeys([[name, context]])).pipe(
    Effect.ensuring(
      Effect.matchEffect(
        file.change((present) => withoutContext(present, name)),
        {
          onFailure: (failure) => output.warn(failure.message),
          onSuccess: () =>
            Effect.sync(() => {
              deleted = true
            })
        }
      )
    )
  )
  yield* output.answer({
    body: { signed_out: [name], revoked },
    table: sentence(
      deleted
        ? `Context "${name}" is deleted.`
        : `The key of context "${name}" ${revoked.length === 0 ? "may still be valid" : "is revoked"}, but ${file.path} still has it.`
    )
  })
  if (deleted && stored.current === name && Object.keys(stored.contexts).length > 1)
    yield* output.note("There is no current context now. Select another: narthex context use <name>")
})

/** Warns if `NARTHEX_URL` is another server than the one that issued a key: the latter revokes the key. */
const warnOfOtherServer = Effect.fnUntraced(function* ({ contexts }: StoredContexts) {
  const { url } = yield* Environment
  const output = yield* Output
  const chosen =
    url === undefined ? undefined : Option.getOrUndefined(Option.getSuccess(readServerUrl(url, "NARTHEX_URL")))
  const homes = new Set(Object.values(contexts).map((context) => context.url))
  for (const home of homes)
    if (chosen !== undefined && (!isSameServer(home, chosen) || home !== chosen))
      yield* output.warn(`NARTHEX_URL is ${chosen}, but a stored key belongs to ${home} and is revoked there.`)
})

export const logout = Command.make("logout", {}, () =>
  reporting(
    Effect.gen(function* () {
      const context = yield* ContextFlag
      const output = yield* Output
      const { apiKey, apiKeyFile } = yield* Environment
      yield* Option.match(context, { onNone: removeAllContexts, onSome: leaveContext })
      if (apiKey !== undefined || apiKeyFile !== undefined)
        yield* output.note(
          "logout does not revoke the credential in NARTHEX_API_KEY. Unset the variable to stop using it."
        )
    })
  )
).pipe(
  Command.withDescription("Revoke and delete the stored keys. Signing out of the console does not revoke them"),
  Command.withExamples([
    { command: "narthex logout" },
    { command: "narthex logout --context acme", description: "One context; the others stay" }
  ])
)

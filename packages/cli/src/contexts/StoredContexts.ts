/**
 * The content of the credentials file: contexts by name, and the name of the current one. A context is one API key of
 * one organization on one server. Authorization codes, login states and provider tokens are never stored.
 */
import { Schema } from "effect"

export const StoredContext = Schema.Struct({
  /** The server that issued the key, and the only one that receives it. */
  url: Schema.String,
  secret: Schema.RedactedFromValue(Schema.String),
  key: Schema.Struct({ id: Schema.String, name: Schema.String, expires_at: Schema.NullOr(Schema.String) }),
  user: Schema.NullOr(Schema.Struct({ id: Schema.String, email: Schema.NullOr(Schema.String) })),
  organization: Schema.NullOr(Schema.Struct({ id: Schema.String, name: Schema.String })),
  /** The project of commands that name none (`narthex context set-project`). */
  project: Schema.optionalKey(Schema.Struct({ id: Schema.String, name: Schema.String }))
})
export type StoredContext = typeof StoredContext.Type

export const StoredContexts = Schema.Struct({
  version: Schema.Literal(1),
  current: Schema.NullOr(Schema.String),
  contexts: Schema.Record(Schema.String, StoredContext)
})
export type StoredContexts = typeof StoredContexts.Type

export const noContexts: StoredContexts = { version: 1, current: null, contexts: {} }

const names = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export const isContextName = (text: string): boolean => names.test(text)

export const contextNamed = (stored: StoredContexts, name: string): StoredContext | undefined =>
  Object.hasOwn(stored.contexts, name) ? stored.contexts[name] : undefined

/** Sets the default project of a context, or removes it. A context that does not exist stays absent. */
export const withProject = (
  stored: StoredContexts,
  name: string,
  project: NonNullable<StoredContext["project"]> | undefined
): StoredContexts => {
  const context = contextNamed(stored, name)
  if (context === undefined) return stored
  const { project: _replaced, ...rest } = context
  const changed = project === undefined ? rest : { ...rest, project }
  return { ...stored, contexts: { ...stored.contexts, [name]: changed } }
}

/** Adds or replaces the context, and makes it current. */
export const withContext = (stored: StoredContexts, name: string, context: StoredContext): StoredContexts => ({
  ...stored,
  current: name,
  contexts: { ...stored.contexts, [name]: context }
})

/** Names the organization of a key. Unchanged if the context has another key by now, of a later login. */
export const withOrganization = (
  stored: StoredContexts,
  name: string,
  key: string,
  organization: NonNullable<StoredContext["organization"]>
): StoredContexts => {
  const context = contextNamed(stored, name)
  return context?.key.id === key
    ? { ...stored, contexts: { ...stored.contexts, [name]: { ...context, organization } } }
    : stored
}

/**
 * Removes the context. No other context becomes current, because that would silently change the target of the next
 * command.
 */
export const withoutContext = (stored: StoredContexts, name: string): StoredContexts => ({
  ...stored,
  current: stored.current === name ? null : stored.current,
  contexts: Object.fromEntries(Object.entries(stored.contexts).filter(([other]) => other !== name))
})

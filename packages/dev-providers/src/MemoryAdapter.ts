/**
 * The store of an issuer for codes, grants, access tokens and sign-ins in progress: in memory, at most 1,000 entries.
 *
 * The library checks expiry itself (it compares `exp`); the store only has a bound. Sessions are not stored: with a stored
 * session the library would sign the former person in without asking, or refuse the next address.
 */
import type { AdapterFactory, AdapterPayload } from "oidc-provider"
import { BoundedMap } from "./BoundedMap.ts"

/** A new store, shared by all models of one issuer. */
export const memoryAdapter = (): AdapterFactory => {
  const entries = new BoundedMap<AdapterPayload>(1_000)

  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`
    return {
      upsert: async (id, payload) => {
        if (model !== "Session") entries.set(keyOf(id), payload)
      },
      find: async (id) => entries.get(keyOf(id)),
      // Sessions (by uid) and device codes (by user code) are never stored.
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = entries.get(keyOf(id))
        // Any truthy value means "used": a second use revokes the tokens of the first one.
        if (payload !== undefined) entries.set(keyOf(id), { ...payload, consumed: true })
      },
      destroy: async (id) => entries.delete(keyOf(id)),
      revokeByGrantId: async (grant) => entries.deleteWhere(({ grantId }) => grantId === grant)
    }
  }
}

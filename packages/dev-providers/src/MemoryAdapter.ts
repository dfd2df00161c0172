/**
 * Where an issuer keeps codes, grants, access tokens and sign-ins in progress: in memory, at most 1,000 of them.
 *
 * Expiry is the library's business (it compares `exp` itself); this only bounds. Sessions are not kept at all: a
 * remembered session would sign somebody in without asking, or refuse the next address.
 */
import type { AdapterFactory, AdapterPayload } from "oidc-provider"
import { BoundedMap } from "./BoundedMap.ts"

/** One store, shared by all models of one issuer. */
export const memoryAdapter = (): AdapterFactory => {
  const entries = new BoundedMap<AdapterPayload>(1_000)

  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`
    return {
      upsert: async (id, payload) => {
        if (model !== "Session") entries.set(keyOf(id), payload)
      },
      find: async (id) => entries.get(keyOf(id)),
      // Both look up what is never kept: sessions, and codes of devices.
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = entries.get(keyOf(id))
        // Any truthy value says "used": a second use revokes what the first one gave.
        if (payload !== undefined) entries.set(keyOf(id), { ...payload, consumed: true })
      },
      destroy: async (id) => entries.delete(keyOf(id)),
      revokeByGrantId: async (grant) => entries.deleteWhere(({ grantId }) => grantId === grant)
    }
  }
}

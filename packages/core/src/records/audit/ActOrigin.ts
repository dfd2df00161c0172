/** Where the running request comes from, for the entries of its acts. All `null` where there is no request. */
import { Context } from "effect"

export interface Origin {
  readonly address: string | null
  readonly user_agent: string | null
  readonly request_id: string | null
}

export const ActOrigin = Context.Reference<Origin>("@narthex/core/records/audit/ActOrigin", {
  defaultValue: () => ({ address: null, user_agent: null, request_id: null })
})

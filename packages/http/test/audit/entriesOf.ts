/** The entries of the audit log, as owners and admins read them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Caller } from "../support/story.ts"

export interface Entry {
  readonly id: string
  readonly org_id: string
  readonly action: string
  readonly outcome: string
  readonly actor: {
    type: string
    id: string | null
    name: string | null
    user: { id: string; email: string | null } | null
  }
  readonly targets: ReadonlyArray<{ type: string; id: string; name: string | null }>
  readonly context: { location: string | null; user_agent: string | null; request_id: string | null }
  readonly metadata: Readonly<Record<string, string>>
  readonly version: number
}

/** The entries of the caller's organization that fit the query, newest first. */
export const entries = Effect.fnUntraced(function* (who: Caller, query = "") {
  const answer = yield* who.call("GET", `/v1/orgs/${who.org_id}/audit${query}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body.entries as ReadonlyArray<Entry>
})

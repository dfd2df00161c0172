/** The webhooks of a world: made when a cell needs one, and noted as they were made. */
import type { OrgId, StoredWebhook, WebhookStore } from "@narthex/core"
import { aWebhook } from "@narthex/core/testing"
import { DateTime, Effect } from "effect"
import { many } from "./memo.ts"

type Which = "here" | "elsewhere"

/** The id of a webhook of the organization. Nothing is delivered, because it is not due, and is woken already. */
export const webhooksOf = (
  orgs: Readonly<Record<Which, Effect.Effect<OrgId>>>,
  noted: Array<StoredWebhook>,
  store: WebhookStore["Service"]
) =>
  many((which: Which) =>
    Effect.gen(function* () {
      const due_at = DateTime.add(yield* DateTime.now, { days: 1 })
      const record = aWebhook({ org_id: yield* orgs[which], woken: true, due_at })
      noted.push(record)
      yield* Effect.orDie(store.insert(record))
      return record.id as string
    })
  )

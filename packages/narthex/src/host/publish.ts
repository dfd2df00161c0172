/** Events that the host publishes itself (docs/design/events.md E47 to E51). */
import { HostEvents } from "@narthex/core"
import { anything, objectOf, optional, orNull, text } from "../failures/forms.ts"
import { placing } from "../failures/placing.ts"
import { requireForm } from "./inputs.ts"
import type { Run } from "./Run.ts"

export interface Publication {
  readonly org_id: string
  /** Left out: an event of the whole organization, which streams of a project do not have. */
  readonly project_id?: string | null
  /** A type of `eventTypes`, such as `invoice.paid.v1`. */
  readonly type: string
  /** By the schema of the type: an object of JSON. */
  readonly data: unknown
}

/**
 * Publishes events of the host, by the schemas of `eventTypes`.
 *
 * @example
 * import { Schema } from "effect"
 * import { createControlPlane } from "narthex"
 * const eventTypes = { "invoice.paid.v1": Schema.Struct({ amount: Schema.Finite }) }
 * await using cp = await createControlPlane({ eventTypes })
 * const { personal_org_id: org_id } = await cp.people.ensure({ subject: "user_42" })
 * await cp.events.publish({ org_id, type: "invoice.paid.v1", data: { amount: 3 } })
 */
export interface Publishing {
  /**
   * Commits an event, which reaches everyone who reads the events of the organization or the project. Inside
   * `transaction` it commits with the host's rows. Rejects with `event_type_undeclared`, `event_data_invalid`,
   * `event_data_too_large`, and with `not_found`.
   */
  readonly publish: (event: Publication) => Promise<void>
}

const eventForm = objectOf<Publication>({
  org_id: text,
  project_id: optional(orNull(text)),
  type: text,
  data: anything
})

export const makePublishing = (run: Run): Publishing => ({
  publish: placing("events.publish", async (event) => {
    requireForm("event", event, eventForm)
    return run(HostEvents.use(({ publish }) => publish(event)))
  })
})

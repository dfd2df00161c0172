/** The body of a message: the envelope of streams, with its instant as `timestamp` (docs/design/webhooks.md H3). */
import { DateTime } from "effect"
import type { Envelope } from "../events/Envelope.ts"

export const webhookBody = ({ at, data, id, org_id, project_id, region_id, source, type }: Envelope): string =>
  JSON.stringify({
    ...{ type, timestamp: DateTime.formatIso(at), id, source, org_id },
    ...(project_id === undefined ? {} : { project_id }),
    ...{ region_id, data }
  })

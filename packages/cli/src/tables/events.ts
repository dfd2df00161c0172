/** What an event says, in a cell or a line. */
import type { Envelope } from "@narthex/api"

/** Of an operation its action and status; of other events the data as JSON. */
export const eventText = ({ data }: Envelope): string => {
  const { action, operation_id, status } = data
  return typeof action === "string" && typeof status === "string"
    ? `${action} ${status}  ${String(operation_id)}`
    : JSON.stringify(data)
}

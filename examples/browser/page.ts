/**
 * The script of a page that follows the events of an organization. It signs in with what the service has put into the
 * page, and continues after a lost connection where it stopped.
 */
import { createClient, isNarthexError } from "@narthex/api"

const list = document.querySelector("ul")
const { token = "" } = document.body.dataset

const line = (text: string) => {
  const item = document.createElement("li")
  item.textContent = text
  list?.prepend(item)
}

const client = createClient({ baseUrl: location.origin, credential: token })

try {
  for await (const item of client.events.subscribe({ types: ["operation.updated.v1"] })) {
    if (item.kind === "event") line(`${item.event.data["action"]}: ${item.event.data["status"]}`)
    if (item.kind === "gap" || item.kind === "overflow") line("Some events are missing: read the list again.")
  }
} catch (error) {
  line(isNarthexError(error) ? error.detail : String(error))
}

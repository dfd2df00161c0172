/**
 * The script of a page that follows the events of an organization. The browser adds the service's own cookie to its
 * requests, so it needs no credential. It continues after a lost connection where it stopped.
 */
import { createClient, isNarthexError } from "@narthex/api"

const list = document.querySelector("ul")

const line = (text: string) => {
  const item = document.createElement("li")
  item.textContent = text
  list?.prepend(item)
}

const client = createClient({ baseUrl: location.origin })

try {
  for await (const item of client.events.subscribe({ types: ["operation.updated.v1"] })) {
    if (item.kind === "event") line(`${item.event.data["action"]}: ${item.event.data["status"]}`)
    if (item.kind === "gap" || item.kind === "overflow") line("Some events are missing: read the list again.")
  }
} catch (error) {
  line(isNarthexError(error) ? error.detail : String(error))
}

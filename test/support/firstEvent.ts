/** A stream that delivers what a client does. */
import type { createClient } from "@narthex/api"
import { within } from "../harness/eventually.ts"

/** Creates a project once the client's stream is open; the type of the first event that arrives. */
export const firstEvent = (client: ReturnType<typeof createClient>): Promise<string | undefined> => {
  const first = async () => {
    for await (const item of client.events.subscribe()) {
      if (item.kind === "connected") await client.projects.create({ name: "shop" })
      if (item.kind === "event") return item.event.type
    }
    return undefined
  }
  return within("an event", first())
}

/** The driver of the platform, through its service `Database`. */
import { Effect, Layer, ManagedRuntime, Redacted, Stream } from "effect"
import { Database } from "../../src/database/Database.ts"
import { silent } from "../support/silent.ts"
import { connections, type Driver } from "./Driver.ts"

export const driver = (url: string): Driver => {
  const layer = Database.layer({
    url: Redacted.make(url),
    maxConnections: connections,
    applicationName: "narthex-load"
  })
  const runtime = ManagedRuntime.make(Layer.merge(layer, silent))
  const ask = <A, E>(use: (database: Database["Service"]) => Effect.Effect<A, E>) =>
    runtime.runPromise(Database.use(use))
  return {
    // Every second one shares a connection.
    query: (text, params) =>
      ask((database) => database.query("load", text, params, Number(params[0]) % 2 === 0 ? undefined : "keys")),
    transaction: (texts) =>
      ask((database) => database.transaction(Effect.forEach(texts, (text) => database.query("load", text)))),
    listen: (channel, heard) =>
      ask((database) =>
        Stream.runForEach(database.listen(channel), (notice) =>
          Effect.sync(() => {
            if (notice._tag === "Notified") heard(notice.payload)
          })
        )
      )
  }
}

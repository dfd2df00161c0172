/** Where the console is: as `NARTHEX_CONSOLE_URL` says, else as the API does. */
import type { NarthexClient } from "@narthex/api"
import { Effect } from "effect"
import { readServerUrl } from "../connection/serverUrl.ts"
import { Environment } from "../Environment.ts"
import { LoginEnded } from "../failures.ts"

/** Judged before it is opened: an opener would take any address, a file's too. */
export const findConsole = Effect.fn("findConsole")(function* (client: NarthexClient["Service"]) {
  const { consoleUrl } = yield* Environment
  if (consoleUrl !== undefined) return yield* Effect.fromResult(readServerUrl(consoleUrl, "NARTHEX_CONSOLE_URL"))
  const { console_url } = yield* client.api.auth.providers()
  if (console_url === null)
    return yield* new LoginEnded({
      message: "This server has no console to sign in with.",
      hint: "set NARTHEX_CONSOLE_URL, or narthex login --with-token < file"
    })
  return yield* Effect.fromResult(readServerUrl(console_url, "The console's address, as the API gives it,"))
})

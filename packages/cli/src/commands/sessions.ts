/** `narthex session list|end`: where a person is signed in. Both need a person's session (docs/design/cli.md C27). */
import { parseSessionId } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { pastedArgument, yesFlag } from "../input/flags.ts"
import { openFlag, orInConsole } from "../login/consolePage.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"
import { yesNo } from "../tables/states.ts"

const list = Command.make("list", { open: openFlag }, ({ open }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const call = output.waiting("Listing sessions", answered(api.client.api.auth.sessions({ ...withBody })))
      const page = { what: "Listing sessions", path: () => "/account", open }
      const listed = yield* orInConsole(api, call, page)
      if (listed === undefined) return
      yield* output.answer({
        body: listed.body,
        table: rows(
          ["current", "provider", "signed in", "last used", "address", "browser", "id"],
          ...listed.value.sessions.map((session) => [
            yesNo(session.current),
            session.provider,
            instant(session.signed_in_at),
            instant(session.last_refreshed_at),
            session.address,
            session.user_agent,
            session.id
          ])
        ),
        empty: "There are no sessions."
      })
    })
  )
).pipe(
  Command.withDescription("List where you are signed in; needs a person's session"),
  Command.withExamples([{ command: "narthex session list --open" }])
)

const end = Command.make(
  "end",
  {
    session_id: pastedArgument("session_id").pipe(
      Argument.withDescription("The id of the session"),
      Argument.filterMap(parseSessionId, () => "Expected the id of a session; narthex session list shows the ids")
    ),
    open: openFlag,
    yes: yesFlag
  },
  ({ open, session_id, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const call = Effect.gen(function* () {
          const { sessions } = yield* api.client.api.auth.sessions()
          const own = sessions.find(({ id }) => id === session_id)?.current === true
          yield* confirm(`The session ends${own ? ", and with it the credential of this command" : ""}.`, yes)
          yield* output.waiting("Ending the session", api.client.api.auth.endSession({ params: { session_id } }))
          yield* output.note("The session is ended.")
        })
        yield* orInConsole(api, call, { what: "Ending a session", path: () => "/account", open })
      })
    )
).pipe(
  Command.withDescription("End a session; needs a person's session"),
  Command.withExamples([{ command: "narthex session end 0198f3d2-… --yes" }])
)

export const session = Command.make("session").pipe(
  Command.withDescription("Where you are signed in"),
  Command.withSubcommands([list, end])
)

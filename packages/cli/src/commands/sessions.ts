/** `narthex session list|end`: where a person is signed in. Both need a person's session (docs/design/cli.md C27). */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { idArgument, yesFlag } from "../input/flags.ts"
import { openFlag, orInConsole } from "../login/consolePage.ts"
import { type Kind, resolve } from "../names/resolve.ts"
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

const kind: Kind = { one: "session", many: "sessions", list: "narthex session list" }

const end = Command.make(
  "end",
  {
    session_id: idArgument("session_id", "session", "narthex session list"),
    open: openFlag,
    yes: yesFlag
  },
  ({ open, session_id: name, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const call = Effect.gen(function* () {
          const { sessions } = yield* api.client.api.auth.sessions()
          const objects = sessions.map(({ current, id }) => ({ id, names: [], current }))
          const { current, id: session_id } = yield* resolve(kind, { name }, { objects, complete: true })
          yield* confirm(`The session ends${current ? ", and with it the credential of this command" : ""}.`, yes)
          yield* output.waiting("Ending the session", api.client.api.auth.endSession({ params: { session_id } }))
          yield* output.note("The session is ended.")
        })
        yield* orInConsole(api, call, { what: "Ending a session", path: () => "/account", open })
      })
    )
).pipe(
  Command.withDescription("End a session; needs a person's session"),
  Command.withExamples([{ command: "narthex session end 0198f3d2 --yes" }])
)

export const session = Command.make("session").pipe(
  Command.withDescription("Where you are signed in"),
  Command.withSubcommands([list, end])
)

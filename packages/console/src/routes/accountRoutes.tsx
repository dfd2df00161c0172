/** The account of the person: who they are, and the sessions that are signed in, each of which they can end. */
import { parseSessionId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { inActiveOrganization, type Visit } from "../requests/Visit.ts"
import { AccountPage } from "../views/Account.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const account = "/account"

const accountPage = Effect.fnUntraced(function* (visit: Visit) {
  const { providers } = yield* ConsoleSettings
  const { sessions } = yield* calling((api) => api.auth.sessions({}))
  return page(
    <AccountPage
      frame={visit.frame}
      sessions={sessions}
      providers={new Map(providers.map(({ id, name }) => [id, name]))}
      notice={noticeIn(visit.query)}
    />
  )
})

/** A session that has ended already counts as ended. */
const ended = refusedWith("not_found")

/** The current session is ended by signing out, which also clears the cookie. */
const endOne = inActiveOrganization((visit) =>
  Effect.gen(function* () {
    yield* Form.read
    const session_id = yield* idOrNotFound(parseSessionId(visit.param("session_id")))
    yield* calling((api) => api.auth.endSession({ params: { session_id } })).pipe(
      Effect.catchIf(ended, () => Effect.void)
    )
    return seeOther(withNotice(account, "session-ended"))
  })
)

/** The list is bounded by the API (the newest 1,000), and a repetition ends what an interrupted one left. */
const endOthers = inActiveOrganization(() =>
  Effect.gen(function* () {
    yield* Form.read
    const { sessions } = yield* calling((api) => api.auth.sessions({}))
    yield* Effect.forEach(
      sessions.filter(({ current }) => !current),
      ({ id }) =>
        calling((api) => api.auth.endSession({ params: { session_id: id } })).pipe(
          Effect.catchIf(ended, () => Effect.void)
        ),
      { concurrency: 5, discard: true }
    )
    return seeOther(withNotice(account, "sessions-ended"))
  })
)

export const accountRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: account, answer: inActiveOrganization(accountPage) },
  { method: "POST", path: `${account}/sessions/end-others`, answer: endOthers },
  { method: "POST", path: `${account}/sessions/:session_id/end`, answer: endOne }
]

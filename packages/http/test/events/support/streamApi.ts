/** The API over memory with settings of event streams, and a way to emit events without a call. */
import { defaultEventSettings, EventFeed, EventSettings, OrgId, type ProjectId, Transaction } from "@narthex/core"
import { Effect, Layer } from "effect"
import { type ApiOptions, memoryApi, signIn } from "../../support/apiOver.ts"
import { call } from "../../support/wire.ts"
import { standingStill } from "./standingStill.ts"

export const streamApi = (settings: Partial<EventSettings> = {}, options: ApiOptions = {}) =>
  memoryApi({ idle: true, ...options }).pipe(
    Layer.provideMerge(Layer.succeed(EventSettings, { ...defaultEventSettings, limits: null, ...settings }))
  )

/** The same with a clock that stands still until `Ahead` moves it. */
export const stillApi = (settings: Partial<EventSettings> = {}, options: ApiOptions = {}) =>
  streamApi(settings, options).pipe(Layer.provide(standingStill))

/** A new person in an organization of their own. */
export const signedIn = (email: string) =>
  Effect.gen(function* () {
    const token = yield* signIn(email)
    const { body } = yield* call("GET", "/v1/auth/whoami", { token })
    return { token, org: OrgId.make(body.organization.id), user: String(body.user.id) }
  })

export interface Stated {
  readonly type?: string
  readonly project?: ProjectId | null
  readonly data?: Record<string, string | number>
}

/** Commits events in one transaction. */
export const state = (org: OrgId, events: ReadonlyArray<Stated>) =>
  Effect.flatMap(Transaction, ({ emit, run }) =>
    run(
      Effect.forEach(
        events,
        ({ data = {}, project = null, type = "operation.updated.v1" }) =>
          emit({ org_id: org, project_id: project, type, source: "operations", internal: false, data }),
        { discard: true }
      )
    )
  )

/** The instance has read everything that was committed. Without a socket, a call may arrive sooner than that. */
export const allRead = Effect.flatMap(EventFeed, ({ refresh }) => refresh)

/** Events that count. */
export const counting = (from: number, count: number, size = 0): ReadonlyArray<Stated> =>
  Array.from({ length: count }, (_, at) => ({
    data: { n: from + at, ...(size === 0 ? {} : { pad: "x".repeat(size) }) }
  }))

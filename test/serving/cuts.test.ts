/**
 * The sessions of an endpoint that ends while its Postgres runs on for another endpoint of the branch: over the real
 * stream of changes, with a real proxy that refreshes nothing by itself. Holds docs/design/proxy.md P37.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, within } from "../harness/eventually.ts"
import type { Session } from "../hostile/support/Session.ts"
import { Computes } from "./support/Computes.ts"

/** A long query: resolves once it has failed. The SQLSTATE of a cut is asserted where bytes are read (`cut.test.ts`). */
const lasting = (session: Session) =>
  session.query("select pg_sleep(3600)").then(
    () => "finished",
    () => "ended"
  )

layer(Computes.layer, { excludeTestServices: true })("an endpoint that ends", (it) => {
  it.effect("disabling, suspending and deleting an endpoint cut its sessions, and none of the branch's others", () =>
    Effect.gen(function* () {
      const computes = yield* Computes
      const place = yield* computes.place
      const { body } = yield* computes.call("POST", `${place.path}/endpoints`, {
        branch_id: place.branch,
        type: "read_only"
      })
      const ending = `${place.path}/endpoints/${body.endpoint.id}`
      const staying = yield* computes.session(place)
      const ends = [
        ["PATCH", ending, { disabled: true }],
        ["POST", `${ending}/suspend`, undefined],
        ["DELETE", ending, undefined]
      ] as const
      for (const [method, path, sent] of ends) {
        const session = yield* computes.session(place, String(body.endpoint.id))
        const ended = lasting(session)
        // The session is authenticated, and its query has been sent. Postgres may still end the session before it.
        const there = "select 1 from pg_stat_activity where usename like '%read_only'"
        yield* eventually(
          "the session to be the only one",
          Effect.map(
            Effect.promise(() => staying.query(there)),
            ({ length }) => length === 1
          )
        )
        const { status } = yield* computes.call(method, path, sent)
        assert.isBelow(status, 300)
        const what = `${method} ${path} to end the session`
        assert.strictEqual(yield* Effect.promise(() => within(what, ended)), "ended")
        session.close()
        assert.lengthOf(yield* Effect.promise(() => staying.query("select 1")), 1)
        if (method === "PATCH") yield* computes.call("PATCH", ending, { disabled: false })
      }
      staying.close()
    })
  )
})

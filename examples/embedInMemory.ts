/**
 * The services of the core in your own program, with all state in memory: sign in, create a project, follow its events,
 * create a key.
 *
 *     node --conditions=source examples/embedInMemory.ts
 */
import * as Core from "@narthex/core"
import { Console, Effect, Fiber, Stream } from "effect"
import { ControlPlane } from "narthex"
import { idToken, People } from "./people.ts"

/** The services, and the runner that performs operations. */
export const embedded = ControlPlane.layer({ identity: People })

export const program = Effect.gen(function* () {
  const session = yield* (yield* Core.Sessions).exchange(idToken("ada@example.com"), {
    user_agent: null,
    address: "127.0.0.1"
  })
  const { authenticate } = yield* Core.Authentication
  const caller = yield* authenticate(session.access_token, "127.0.0.1")
  // Only a session can create keys.
  if (caller.kind !== "session") return yield* Effect.die(new Error("The caller is not a session."))

  const following = { org_id: caller.org_id, project_id: null, types: ["operation.updated.v1"], after: null }
  const followed = yield* (yield* Core.EventFollowing).follow(following)
  const watching = yield* followed.pipe(
    Stream.flatMap((item) => (item._tag === "Event" ? Stream.succeed(item.envelope) : Stream.empty)),
    Stream.tap(({ data }) => Console.log(`${data["action"]} is ${data["status"]}`)),
    Stream.takeUntil(({ data }) => data["status"] === "finished"),
    Stream.runCollect,
    Effect.forkChild
  )

  // Services do not authorize their callers: the host must decide first.
  yield* (yield* Core.Authorization).admit(Core.changes("write", "create_projects", "none"), caller, {})
  const { project } = yield* (yield* Core.Projects).create(caller, { name: "shop", region: null })
  const events = yield* Fiber.join(watching)

  const { secret } = yield* (yield* Core.ApiKeys).create(caller, {
    name: "ci",
    capability: "read",
    scope: { type: "project", project_id: project.id },
    expires_in_days: 90
  })
  const key = yield* authenticate(secret, null)
  yield* Console.log(`${session.user.email} created ${project.id}, and a key that reads it`)
  return { caller, events, key, project }
}).pipe(Effect.scoped)

if (import.meta.main) await Effect.runPromise(Effect.provide(program, embedded))

/** The control plane on Postgres: migrations and state that outlives the process. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { createControlPlane, isNarthexError, postgres } from "../src/index.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true }
const secret = "A".repeat(43)

/** A control plane on this database, in the scope. */
const controlPlane = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => createControlPlane({ storage: postgres(url), secret, log: "off", grace: 1_000 })),
    (cp) => Effect.promise(() => cp.close())
  )

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "nothing",
    (error: unknown) => (isNarthexError(error) ? error.code : String(error))
  )

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "120 seconds" })(
  "a control plane on Postgres",
  (it) => {
    it.effect("an empty database is migrated, and keys and sessions are valid in the next process", () =>
      Effect.gen(function* () {
        const url = Redacted.value(yield* (yield* PostgresServer).database)
        const [person, key, session] = yield* Effect.scoped(
          Effect.gen(function* () {
            const cp = yield* controlPlane(url)
            return yield* Effect.promise(async () => {
              const made = await cp.people.ensure(ada)
              const begun = await cp.sessions.start(made)
              return [made, await cp.client(begun).apiKeys.create({ name: "ci", capability: "read" }), begun] as const
            })
          })
        )
        const cp = yield* controlPlane(url)
        yield* Effect.promise(async () => {
          assert.strictEqual((await cp.people.ensure(ada)).id, person.id)
          assert.strictEqual((await cp.authenticate(key.secret)).user.id, person.id)
          assert.strictEqual((await cp.authenticate(session.access_token)).kind, "session")
          const other = createControlPlane({ storage: postgres(url), secret: `${"B".repeat(42)}A`, log: "off" })
          assert.strictEqual(await codeOf(other), "invalid_options")
        })
      })
    )
  }
)

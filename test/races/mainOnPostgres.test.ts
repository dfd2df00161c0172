/**
 * An agent's writer and a branch that becomes main at the same moment, judged by the Postgres that runs: nobody logs in
 * with such a role afterwards, and a session that it opened before is over.
 */
import { assert, layer } from "@effect/vitest"
import { Branches, changes, Credentials, layerRunner, Projects, Wakes } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Layer, Option, Random, Redacted, Result, Schedule } from "effect"
import { dataDirectory, kinds, session } from "../../packages/local-postgres/test/support.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { signIn, withKey, worldWith } from "./support/world.ts"

const policy = changes("write", "change_projects", "branch")

const computes = Layer.unwrap(
  Effect.map(dataDirectory(0), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: kinds[0]?.choice ?? "" }))
)

layer(layerRunner.pipe(Layer.provideMerge(worldWith(computes))), { excludeTestServices: true })(
  "main, on a running Postgres",
  (it) => {
    it.effect(
      "lets no writer in that an agent minted, nor stay",
      () =>
        Effect.gen(function* () {
          const branches = yield* Branches
          const { mint } = yield* Credentials
          const { wake } = yield* Wakes
          const owner = yield* signIn("owner@example.com")
          const agent = yield* withKey(owner, owner.org_id, "agent")
          const { branch: home, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
          const wanted = { name: null, parent_id: home.id, protected: false, ttl_seconds: null, endpoint: true }
          yield* workedOff(home)
          const { branch, endpoint } = yield* branches.create(owner, project, wanted)
          yield* workedOff(branch)
          const { address } = yield* wake(endpoint?.id ?? assert.fail("no endpoint"), "127.0.0.1")

          /** Logs in and writes; answers how to write again in the same session. */
          const enter = (role: string, password: Redacted.Redacted) =>
            Effect.gen(function* () {
              const sql = yield* session(address, role, Redacted.value(password))
              yield* sql.unsafe(`create table "of ${role}" as select 1 as n`)
              return sql.unsafe(`insert into "of ${role}" values (2)`)
            })
          const outcome = { minted: 0, refused: 0, entered: 0 }
          const round = Effect.fnUntraced(function* (n: number) {
            const byDefault = yield* Random.nextBoolean
            // While a role is applied, the branch is busy; a client tries again.
            const become = Effect.retry(
              byDefault
                ? Effect.asVoid(branches.setDefault(owner, branch))
                : Effect.asVoid(branches.change(owner, policy, branch, { protected: true })),
              { while: ({ _tag }) => _tag === "ResourceBusy", schedule: Schedule.spaced("2 millis") }
            )
            const mintAndEnter = Effect.gen(function* () {
              const { credential, password } = yield* mint(agent, project, branch, "read_write", null)
              const opened = yield* Effect.option(enter(credential.role, password))
              return { role: credential.role, password, opened }
            })
            // Minting takes its time to get to the branch: every other round lets it come first, or nearly.
            const late = n % 2 === 0 ? 0 : yield* Random.nextIntBetween(5, 50)
            const [became, ...tries] = yield* Effect.all(
              [Effect.result(Effect.delay(become, late)), race([mintAndEnter, mintAndEnter, mintAndEnter])],
              { concurrency: 2 }
            ).pipe(Effect.map(([first, rest]) => [first, ...rest] as const))
            yield* workedOff(branch)
            const writers = tries.flatMap((it) => (Result.isSuccess(it) ? [it.success] : []))
            outcome.minted += writers.length
            outcome.refused += tries.length - writers.length
            outcome.entered += writers.filter(({ opened }) => Option.isSome(opened)).length
            const wrong = yield* Effect.forEach(writers, ({ opened, password, role }) =>
              Effect.gen(function* () {
                const stayed = Option.isSome(opened) && Result.isSuccess(yield* Effect.result(opened.value))
                const entered = Result.isSuccess(yield* Effect.result(Effect.scoped(enter(role, password))))
                return [
                  ...(stayed ? ["a writer's session goes on"] : []),
                  ...(entered ? ["a writer comes in again"] : [])
                ]
              })
            )
            yield* byDefault
              ? branches.setDefault(owner, home)
              : branches.change(owner, policy, branch, { protected: false })
            return [...(Result.isSuccess(became) ? [] : ["it did not become main"]), ...wrong.flat()]
          })
          yield* rounds("mint beside becoming main, on Postgres", (n) => Effect.scoped(round(n)), { lanes: 1 })
          yield* Effect.sync(() => console.log(JSON.stringify(outcome)))
          assert.isAbove(outcome.minted, 0, "some were before it")
          assert.isAbove(outcome.entered, 0, "some had come in")
          assert.isAbove(outcome.refused, 0, "some were after it")
        }),
      patience
    )
  }
)

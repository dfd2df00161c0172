/**
 * An agent's writer and a branch that becomes main at the same moment, checked in the running Postgres: such a role
 * cannot log in afterwards, and a session that it opened before is closed.
 */
import { assert, layer } from "@effect/vitest"
import {
  Branches,
  ConfirmationLimit,
  Credentials,
  changes,
  layerRunner,
  type MintedCredential,
  Projects,
  ProxyRequests
} from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Database } from "@narthex/postgres"
import { Context, DateTime, Duration, Effect, Layer, Option, Random, Redacted, Result } from "effect"
import { dataDirectory, kinds, session } from "../../packages/local-postgres/test/support.ts"
import { eventually } from "../harness/eventually.ts"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { signIn, withKey, worldWith } from "./support/world.ts"

const policy = changes("write", "change_projects", "branch")

const computes = Layer.unwrap(
  Effect.map(dataDirectory(0), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: kinds[0]?.choice ?? "" }))
)

/** A branch whose compute runs. */
const makeRunning = Effect.gen(function* () {
  const branches = yield* Branches
  const { mint } = yield* Credentials
  const owner = yield* signIn("owner@example.com")
  const agent = yield* withKey(owner, owner.org_id, "agent")
  const { branch: home, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
  const wanted = { name: null, parent_id: home.id, protected: false, ttl_seconds: null, endpoint: true }
  yield* workedOff(home)
  const { branch, endpoint } = yield* branches.create(owner, project, wanted)
  yield* workedOff(branch)
  const { address } = yield* (yield* ProxyRequests).wake(endpoint?.id ?? assert.fail("no endpoint"), "127.0.0.1")

  // While a role is applied, the branch is busy; a client tries again.
  const idle = <A, E extends { readonly _tag: string }>(change: Effect.Effect<A, E>) =>
    eventually(
      "the branch to be idle",
      Effect.flatMap(Effect.result(change), (outcome) => {
        if (Result.isSuccess(outcome)) return Effect.succeed(true)
        return outcome.failure._tag === "ResourceBusy" ? Effect.succeed(false) : Effect.fail(outcome.failure)
      })
    )
  const protect = (it: boolean) => Effect.asVoid(branches.change(owner, policy, branch, { protected: it }))
  return {
    branch,
    address,
    mint: mint(agent, project, branch, "read_write", null),
    ways: {
      default: {
        become: idle(branches.setDefault(owner, branch)),
        cease: Effect.asVoid(branches.setDefault(owner, home))
      },
      protected: { become: protect(true), cease: protect(false) }
    }
  }
})

class Running extends Context.Service<Running, Effect.Success<typeof makeRunning>>()("test/races/Running") {
  static readonly layer = Layer.effect(Running, makeRunning)
}

/** Logs in and writes; returns an effect that writes again in the same session. */
const enter = ({ credential: { role }, password }: MintedCredential) =>
  Effect.gen(function* () {
    const { address } = yield* Running
    const sql = yield* session(address, role, Redacted.value(password))
    yield* sql.unsafe(`create table "of ${role}" as select 1 as n`)
    return sql.unsafe(`insert into "of ${role}" values (2)`)
  })

const mintAndEnter = Effect.gen(function* () {
  const minted = yield* (yield* Running).mint
  return { minted, opened: yield* Effect.option(enter(minted)) }
})

type Writer = Effect.Success<typeof mintAndEnter>

/** Writers that can still log in, or stay connected, on a branch that became main. */
const judged = (writers: ReadonlyArray<Writer>) =>
  Effect.gen(function* () {
    yield* workedOff((yield* Running).branch)
    const wrong = yield* Effect.forEach(writers, ({ minted, opened }) =>
      Effect.gen(function* () {
        const stayed = Option.isSome(opened) && Result.isSuccess(yield* Effect.result(opened.value))
        const entered = Result.isSuccess(yield* Effect.result(Effect.scoped(enter(minted))))
        return [
          ...(stayed ? ["a writer's session is still open"] : []),
          ...(entered ? ["a writer can log in again"] : [])
        ]
      })
    )
    return wrong.flat()
  })

/** The compute yields the CPU, so it may confirm late. */
const patiently = Layer.succeed(ConfirmationLimit, Duration.minutes(1))

const world = Running.layer.pipe(
  Layer.provideMerge(layerRunner),
  Layer.provideMerge(worldWith(computes)),
  Layer.provide(patiently)
)

layer(world, { excludeTestServices: true })("main, on a running Postgres", (it) => {
  for (const name of ["default", "protected"] as const) {
    it.effect(`a writer's session from before the branch became ${name} is closed in Postgres`, () =>
      Effect.gen(function* () {
        const { ways } = yield* Running
        const writer = yield* mintAndEnter
        assert.isTrue(Option.isSome(writer.opened), "it came in")
        yield* ways[name].become
        assert.deepStrictEqual(yield* judged([writer]), [])
        yield* ways[name].cease
      })
    )

    it.effect(`a writer that was minted just before the branch became ${name} cannot log in to Postgres`, () =>
      Effect.gen(function* () {
        const { mint, ways } = yield* Running
        const { first, others } = yield* inOrder<MintedCredential, unknown, never, void, unknown, never>(mint, [
          ways[name].become
        ])
        assert.isTrue(others.every(Result.isSuccess), "the branch becomes main")
        // The credential is minted also when `applyRoles` has not reached the compute in time.
        const minted = Result.isSuccess(first) ? [{ minted: first.success, opened: Option.none() }] : []
        assert.deepStrictEqual(yield* judged(minted), [])
        yield* ways[name].cease
      })
    )

    it.effect(`a writer whose minting waited for the branch to become ${name} is not minted`, () =>
      Effect.gen(function* () {
        const { mint, ways } = yield* Running
        const { first, others } = yield* inOrder<
          void,
          unknown,
          never,
          MintedCredential,
          { readonly _tag: string },
          never
        >(ways[name].become, [mint, mint])
        assert.isTrue(Result.isSuccess(first), "the branch becomes main")
        assert.deepStrictEqual(
          others.map((it) => (Result.isSuccess(it) ? "minted" : it.failure._tag)),
          ["Refused", "Refused"]
        )
        yield* workedOff((yield* Running).branch)
        yield* ways[name].cease
      })
    )
  }

  it.effect("a session ends with the lifetime of its credential, and its role leaves Postgres", () =>
    Effect.gen(function* () {
      const { branch } = yield* Running
      const { query } = yield* Database
      const { minted, opened } = yield* mintAndEnter
      assert.isTrue(Option.isSome(opened), "it came in")
      // Sooner than its lifetime, so that the time of a login does not matter.
      yield* query("test", "update narthex.branch_role set expires_at = $2 where branch_id = $1 and role = $3", [
        branch.id,
        DateTime.toDateUtc(yield* DateTime.now),
        minted.credential.role
      ])
      yield* eventually(
        "the compute to confirm the end of the role",
        Effect.map(
          query(
            "test",
            "select 1 from narthex.branch_role where branch_id = $1 and role = $2 and removed_at is not null",
            [branch.id, minted.credential.role]
          ),
          (rows) => rows.length === 1
        )
      )
      assert.deepStrictEqual(yield* judged([{ minted, opened }]), [])
    })
  )

  it.effect(
    "no writer of an agent logs in to or stays in a running main",
    () =>
      Effect.gen(function* () {
        const { ways } = yield* Running
        const outcomes = { minted: 0, "came in": 0, refused: 0 }
        const round = Effect.gen(function* () {
          const { become, cease } = ways[(yield* Random.nextBoolean) ? "default" : "protected"]
          // Half of the rounds delay the change, because minting takes longer to reach the branch.
          const late = Math.max(0, yield* Random.nextIntBetween(-50, 50))
          const [became, tries] = yield* Effect.all(
            [Effect.result(Effect.delay(become, late)), race([mintAndEnter, mintAndEnter, mintAndEnter])],
            { concurrency: 2 }
          )
          const writers = tries.flatMap((it) => (Result.isSuccess(it) ? [it.success] : []))
          outcomes.minted += writers.length
          outcomes.refused += tries.length - writers.length
          outcomes["came in"] += writers.filter(({ opened }) => Option.isSome(opened)).length
          const wrong = yield* judged(writers)
          yield* cease
          return [...(Result.isSuccess(became) ? [] : ["it did not become main"]), ...wrong]
        })
        yield* rounds("mint and become main, on Postgres", () => Effect.scoped(round), { count: 6, lanes: 1, outcomes })
      }),
    patience
  )
})

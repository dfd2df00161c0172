/**
 * The matrix must notice: every policy of the contract is changed in one member at a time, and the cells of its endpoint
 * are run again over HTTP. A change that no cell notices is a hole in the table, unless no caller could notice it
 * either, which the pure decision tells. The decision also tells who notices, so those cells run first. The short form
 * makes a sixth of the changes of each endpoint, chosen by the seed of the run; the long form makes all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Api, policyOf } from "@narthex/api"
import { type CredentialPolicy, EndpointPolicy, layerMemoryPorts } from "@narthex/core"
import { Context, Effect } from "effect"
import { long } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { authorizationApi } from "./authorizationSuite.ts"
import { sidesOf } from "./expectation.ts"
import { matrix } from "./matrix.ts"
import { mutationsOf, noticing } from "./mutations.ts"
import { type Principal, principals } from "./principals.ts"
import type { Call, Row } from "./rows/cells.ts"
import { runCall, Worlds } from "./runCall.ts"

const endpoints = Object.entries(Api.groups).flatMap(([group, { endpoints: all }]) =>
  Object.entries(all).map(([name, endpoint]) => ({ name: `${group}.${name}`, endpoint }))
)

const plantedIn = ({ endpoint, name }: (typeof endpoints)[number]) => {
  const policy = policyOf(endpoint)
  if (policy?._tag !== "Credential") return []
  return mutationsOf(policy)
    .map((it) => ({ ...it, name, endpoint, noticers: noticing(policy, it.mutated, String(endpoint.path)) }))
    .filter(({ noticers }) => noticers.length > 0)
}

const planted = endpoints.map(plantedIn).filter((ofEndpoint) => ofEndpoint.length > 0)
type Planted = (typeof planted)[number][number]

/** The short form makes one change in six. */
const shares = 6
const share = Math.floor(Math.random() * shares)
const tried = long ? planted : planted.map((ofEndpoint) => ofEndpoint.filter((_, at) => at % shares === share))

const withPolicy = <A, E, R>(endpoint: Planted["endpoint"], policy: CredentialPolicy, run: Effect.Effect<A, E, R>) => {
  const annotations = endpoint.annotations
  const put = (value: Context.Context<never>) =>
    Effect.sync(() => Object.defineProperty(endpoint, "annotations", { value, configurable: true, writable: true }))
  return Effect.acquireUseRelease(
    put(Context.add(annotations, EndpointPolicy, policy)),
    () => run,
    () => put(annotations)
  )
}

const callsOf = (name: string): ReadonlyArray<readonly [Row, Call]> =>
  matrix.flatMap((row) => row.calls.filter(({ call }) => call === name).map((call) => [row, call] as const))

/** Does any of these cells of the endpoint come out wrong? Stops at the first that does. */
const isWrong = Effect.fnUntraced(function* (name: string, callers: ReadonlyArray<Principal>, objects: "own" | "all") {
  for (const principal of callers)
    for (const [row, call] of callsOf(name)) {
      const sides = objects === "own" ? (["own"] as const) : sidesOf(call)
      if ((yield* runCall(row, call, principal, sides, false)).wrong.length > 0) return true
    }
  return false
})

const isNoticed = Effect.fnUntraced(function* ({ name, noticers }: Planted) {
  const worlds = yield* Worlds.make
  const first = principals.filter((it) => noticers.includes(it))
  const others = principals.filter((it) => !noticers.includes(it))
  return yield* isWrong(name, first, "own").pipe(
    Effect.flatMap((noticed) => (noticed ? Effect.succeed(true) : isWrong(name, [...first, ...others], "all"))),
    Effect.provideService(Worlds, worlds)
  )
})

/** The changes of one endpoint that no cell noticed, on a storage of their own. */
const missedIn = (ofEndpoint: ReadonlyArray<Planted>) =>
  Effect.gen(function* () {
    const missed: Array<string> = []
    for (const it of ofEndpoint)
      if (!(yield* withPolicy(it.endpoint, it.mutated, isNoticed(it)))) missed.push(`${it.name}: ${it.change}`)
    return missed
  }).pipe(Effect.provide(authorizationApi(layerMemoryPorts)))

describe("the matrix", () => {
  it.live("the matrix passes on the same cells when no policy is changed", () =>
    Effect.gen(function* () {
      for (const ofEndpoint of planted) {
        const name = ofEndpoint[0]?.name ?? ""
        const first = ofEndpoint.flatMap(({ noticers }) => principals.find((it) => noticers.includes(it)) ?? [])
        const wrong = yield* Effect.provide(
          isWrong(name, [...new Set(first)], "own"),
          authorizationApi(layerMemoryPorts)
        )
        assert.isFalse(wrong, name)
      }
    })
  )

  it.live("the matrix fails for every change of a policy that a caller could observe", () =>
    Effect.gen(function* () {
      assert.isAbove(planted.flat().length, 300)
      const count = tried.flat().length
      const missed = (yield* Effect.forEach(tried, missedIn)).flat()
      yield* Effect.sync(() => note(`${count - missed.length} of ${count} changed policies were noticed.`))
      assert.deepStrictEqual(missed, [])
    })
  )
})

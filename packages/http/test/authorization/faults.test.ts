/**
 * The matrix must notice: every policy of the contract is changed in one member at a time, and the cells of its endpoint
 * are run again over HTTP. A change that no cell notices is a hole in the table, unless no caller could notice it
 * either, which the pure decision tells.
 *
 * By default a sample, another one each day; `NARTHEX_TEST_LONG=1` plants them all.
 */
import { assert, layer } from "@effect/vitest"
import { Api, policyOf } from "@narthex/api"
import { type CredentialPolicy, EndpointPolicy, layerMemoryPorts } from "@narthex/core"
import { Context, Effect } from "effect"
import { apiOver } from "../support/apiOver.ts"
import { matrix } from "./matrix.ts"
import { isNoticeable, mutationsOf } from "./mutations.ts"
import { principals } from "./principals.ts"
import { runCall, Worlds } from "./runCall.ts"

const long = process.env["NARTHEX_TEST_LONG"] === "1"
const sample = 60
const day = Math.floor(Date.now() / 86_400_000)

const endpoints = Object.entries(Api.groups).flatMap(([group, { endpoints: all }]) =>
  Object.entries(all).map(([name, endpoint]) => ({ name: `${group}.${name}`, endpoint }))
)

const planted = endpoints.flatMap(({ endpoint, name }) => {
  const policy = policyOf(endpoint)
  if (policy?._tag !== "Credential") return []
  return mutationsOf(policy)
    .filter(({ mutated }) => isNoticeable(policy, mutated, String(endpoint.path)))
    .map((it) => ({ ...it, name, endpoint }))
})

/** Every so-and-so-many-th, beginning at another one each day. */
const step = Math.ceil(planted.length / sample)
const chosen = long ? planted : planted.filter((_, index) => index % step === day % step)

const withPolicy = <A, E, R>(
  endpoint: (typeof planted)[number]["endpoint"],
  policy: CredentialPolicy,
  run: Effect.Effect<A, E, R>
) => {
  const annotations = endpoint.annotations
  const put = (value: Context.Context<never>) =>
    Effect.sync(() => Object.defineProperty(endpoint, "annotations", { value, configurable: true, writable: true }))
  return Effect.acquireUseRelease(
    put(Context.add(annotations, EndpointPolicy, policy)),
    () => run,
    () => put(annotations)
  )
}

/** Does any cell of the endpoint notice? Stops at the first that does. */
const isNoticed = Effect.fnUntraced(function* (name: string) {
  const worlds = yield* Worlds.make
  for (const row of matrix)
    for (const call of row.calls.filter((it) => it.call === name))
      for (const principal of principals) {
        const { wrong } = yield* Effect.provideService(runCall(row, call, principal, false), Worlds, worlds)
        if (wrong.length > 0) return true
      }
  return false
})

layer(apiOver(layerMemoryPorts, { access: { open_signup: false }, idle: true }), {
  excludeTestServices: true,
  timeout: "120 seconds"
})("the matrix", (it) => {
  it.effect(
    "notices every change of a policy that a caller could notice",
    () =>
      Effect.gen(function* () {
        assert.isAbove(planted.length, 300)
        const missed: Array<string> = []
        for (const { change, endpoint, mutated, name } of chosen)
          if (!(yield* withPolicy(endpoint, mutated, isNoticed(name)))) missed.push(`${name}: ${change}`)
        const noticed = chosen.length - missed.length
        yield* Effect.sync(() => console.info(`${noticed} of ${chosen.length} changed policies were noticed.`))
        assert.deepStrictEqual(missed, [])
      }),
    long ? 3_600_000 : 120_000
  )
})

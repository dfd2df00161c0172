/**
 * Ends rights while their streams are open on every server and events are committed all the time. Each right is judged
 * separately, however many end at a time.
 */
import { Deferred, Effect, Fiber, Random } from "effect"
import { eventually, within } from "../../harness/eventually.ts"
import type { ApiProcess } from "./ApiProcesses.ts"
import { type Followed, headOfLog, judgeEnds } from "./judgeEnds.ts"
import { commit } from "./platform.ts"
import { anyOf, type Ending, pathOf, type Right, type Team } from "./rights.ts"
import { StreamClient } from "./StreamClient.ts"

/** After this time a stream counts as not ended. It is a verdict and no failure, so that every right is judged. */
const patience = "45 seconds"

/** How many rights end while their streams are opened; the others end when each stream has received events. */
export type Racing = "none" | "half" | "all"
const chance = { none: 0, half: 0.5, all: 1 } as const

/** Alternating events of the organization and of its project. */
const makeTraffic = ({ id, project }: Team) => {
  let n = 0
  const one = Effect.suspend(() => commit(id, ++n % 2 === 0 ? project : null, [n]))
  return {
    steady: Effect.forever(Effect.delay(one, 15)),
    /** Commits at most a few milliseconds before or after an end. */
    volley: Effect.forEach([0, 1, 2, 4], (millis) => Effect.delay(one, millis), { concurrency: "unbounded" }),
    /** An event whose number the test looks for. */
    numbered: Effect.suspend(() => {
      n += 1
      return Effect.as(commit(id, null, [n]), n)
    })
  }
}

/** Every stream has received a frame. */
const flowing = (clients: ReadonlyArray<StreamClient>) =>
  eventually(
    "an event on every stream",
    Effect.sync(() => clients.every(({ frames }) => frames.length > 0))
  )

/** The status for a credential that reconnects; an open stream is closed at once. */
const comeBack = (right: Right, port: number) =>
  Effect.promise(async () => {
    const client = new StreamClient(pathOf(right), right.token, "")
    await within(
      `the answer to a ${right.way}`,
      client.follow(port, () => client.drop())
    )
    return client.connections > 0 ? 200 : (client.refusals[0] ?? 0)
  })

/** Repeats requests with the first of these rights. */
const untilRefused = (servers: ReadonlyArray<ApiProcess>, [right]: ReadonlyArray<Right>) =>
  Effect.gen(function* () {
    if (right === undefined) return
    const port = yield* anyOf(servers).port
    const headers = { authorization: `Bearer ${right.token}` }
    const ask = Effect.promise(() => fetch(`http://127.0.0.1:${port}${pathOf(right)}`, { method: "HEAD", headers }))
    yield* eventually(
      `the refusal of a ${right.way}`,
      Effect.map(ask, ({ ok }) => !ok)
    )
  })

interface Stream {
  readonly right: Right
  readonly client: StreamClient
  readonly over: Promise<void>
}

const shortly = Effect.flatMap(Random.nextIntBetween(0, 15), (millis) => Effect.sleep(millis))

/** Opens the streams of these rights, ends the rights in their order, and collects what their holders received. */
const endOne = (
  servers: ReadonlyArray<ApiProcess>,
  { end, rights }: Ending,
  traffic: ReturnType<typeof makeTraffic>,
  turn: Effect.Effect<unknown>,
  racing: Racing
) =>
  Effect.gen(function* () {
    // A holder that may reconnect is never refused and may open a stream later, so a race has no verdict.
    const comesBack = rights.some(({ afterwards }) => afterwards === 200)
    const race = !comesBack && (yield* Random.next) < chance[racing]
    const streams: Array<Stream> = []
    const open = (right: Right, port: number) =>
      Effect.sync(() => {
        const client = new StreamClient(pathOf(right), right.token, "")
        streams.push({ right, client, over: client.follow(port) })
      })
    const everywhere = rights.flatMap((right) => servers.map(({ port }) => ({ right, port })))
    const wanted = race ? [...everywhere, ...everywhere] : everywhere
    const opening = Effect.forEach(
      wanted,
      ({ port, right }) => Effect.andThen(race ? shortly : Effect.void, open(right, port)),
      { concurrency: "unbounded", discard: true }
    )
    const ending = Effect.all([end, traffic.volley], { concurrency: 2 })
    const afterEnd = Effect.andThen(ending, traffic.numbered)
    // The right is gone when a request is refused, even if the end has not been answered yet.
    const afterRefusal = Effect.map(
      Effect.all([Effect.andThen(untilRefused(servers, rights), traffic.numbered), ending], { concurrency: 2 }),
      ([number]) => number
    )
    let afterwards: number
    if (race) {
      yield* turn
      afterwards = (yield* Effect.all([Effect.andThen(shortly, afterEnd), opening], { concurrency: 2 }))[0]
    } else {
      yield* opening
      yield* flowing(streams.map(({ client }) => client))
      yield* turn
      afterwards = yield* comesBack ? afterEnd : afterRefusal
    }

    const seen = (right: Right) =>
      Effect.gen(function* () {
        const own = streams.filter((it) => it.right === right)
        const over = Effect.promise(() => Promise.all(own.map((it) => it.over)))
        const ended = (yield* Effect.timeoutOption(over, patience))._tag === "Some"
        for (const { client } of own) client.drop()
        const cameBack = yield* comeBack(right, yield* anyOf(servers).port)
        return { right, clients: own.map(({ client }) => client), ended, cameBack, afterwards } satisfies Followed
      })
    return yield* Effect.forEach(rights, seen, { concurrency: "unbounded" })
  })

/**
 * Ends rights in stages: in parallel within a stage, one stage after another. Rights that do not race end when every
 * stream has received events, the others while the streams are opened.
 */
export const endRights = (
  servers: ReadonlyArray<ApiProcess>,
  team: Team,
  stages: ReadonlyArray<ReadonlyArray<Ending>>,
  racing: Racing
) =>
  Effect.gen(function* () {
    const head = yield* headOfLog
    const traffic = makeTraffic(team)
    const steady = yield* Effect.forkChild(traffic.steady)
    const gates = yield* Effect.forEach(stages, () => Deferred.make<void>())
    const first = Effect.flatMap(Random.nextIntBetween(0, 60), (millis) => Effect.sleep(millis))
    const work = (stage: ReadonlyArray<Ending>, at: number) => {
      const before = gates[at - 1]
      const turn = before === undefined ? first : Deferred.await(before)
      const ends = Effect.forEach(stage, (ending) => endOne(servers, ending, traffic, turn, racing), {
        concurrency: "unbounded"
      })
      return Effect.ensuring(
        ends,
        Effect.forEach(gates.slice(at, at + 1), (gate) => Deferred.succeed(gate, undefined))
      )
    }
    const followed = (yield* Effect.forEach(stages, work, { concurrency: "unbounded" })).flat(2)
    yield* Fiber.interrupt(steady)
    return yield* judgeEnds(head, team.id, followed)
  })

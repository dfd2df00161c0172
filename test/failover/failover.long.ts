/**
 * The store fails over under Patroni while two instances write, read, and stream. Holds docs/operating/failover.md and
 * docs/design/events.md (Failures): what is lost is announced, what was confirmed under synchronous replication is not lost, and
 * the API answers 503 with `Retry-After` until the store is back.
 */
import { assert, describe, layer } from "@effect/vitest"
import { eventIdFromUuid } from "@narthex/core"
import { Context, Effect, Layer } from "effect"
import { StreamClient } from "../events/support/StreamClient.ts"
import { eventually } from "../harness/eventually.ts"
import { note } from "../harness/note.ts"
import { resource } from "../harness/resource.ts"
import { ask, signIn } from "../serving/support/ask.ts"
import { clientId, makeIssuer } from "../serving/support/Issuer.ts"
import { Program } from "../serving/support/Program.ts"
import { freshSecrets } from "../serving/support/Serving.ts"
import { blocksRunBy } from "../support/documentedBlocks.ts"
import { stablePorts } from "../walk/stablePorts.ts"
import { Follower, judge } from "./support/Follower.ts"
import { Patroni } from "./support/Patroni.ts"
import { ttl } from "./support/settings.ts"
import { type Call, Traffic } from "./support/traffic.ts"

const [{ text: haproxy } = { text: "" }] = blocksRunBy("test/failover/failover.long.ts")

/** Two instances on one store, and a third one that can be stopped like a machine that hangs. */
class Store extends Context.Service<
  Store,
  {
    readonly patroni: Patroni
    readonly urls: ReadonlyArray<string>
    readonly third: { readonly port: number; readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void }
    /** A new person's token, and the id of the organization that the person is alone in. */
    readonly person: Effect.Effect<{ readonly token: string; readonly org: string }>
  }
>()("@narthex/test/failover/Store") {
  static readonly layer = Layer.effect(
    Store,
    Effect.gen(function* () {
      yield* Effect.promise(() => resource("build"))
      const patroni = yield* Patroni.start(haproxy)
      yield* patroni.admin("create role narthex login")
      yield* patroni.admin("create database narthex owner narthex")
      const issuer = yield* makeIssuer
      const provider = { id: "test", name: "Test", issuer: issuer.url, client_ids: [clientId] }
      const environment = {
        ...freshSecrets(),
        DATABASE_URL: patroni.url("narthex", "narthex"),
        NARTHEX_PROVIDERS: JSON.stringify([provider]),
        NARTHEX_COMPUTE: "memory",
        NARTHEX_RATE_LIMITS: "off",
        NARTHEX_QUOTA_PROJECTS: "100000",
        NARTHEX_QUOTA_PERSONAL_PERCENT: "100",
        NARTHEX_API_URL: "http://api.example.com", // one issuer of tokens
        NARTHEX_ADMIN_PORT: "0"
      }
      const start = Effect.fnUntraced(function* (port: number, roles: string) {
        const settings = { ...environment, NARTHEX_API_PORT: String(port) }
        return Number((yield* Program.start("server", ["--roles", roles], settings)).ready["pid"])
      })
      const [thirdPort = 0, ...ports] = yield* Effect.promise(() => stablePorts(3))
      const urls = ports.map((port) => `http://127.0.0.1:${port}`)
      for (const port of ports) yield* start(port, "api,runner")
      const pid = yield* start(thirdPort, "api")
      const third = { port: thirdPort, signal: (signal: NodeJS.Signals) => void process.kill(pid, signal) }
      let people = 0
      const person = Effect.suspend(() => signIn(urls[0] ?? "", issuer.idToken(`person-${++people}@example.com`))).pipe(
        Effect.map(({ token, user }) => ({ token, org: user })) // a personal organization has its person's id
      )
      return { patroni, urls, third, person }
    })
  )
}

interface Failure {
  readonly name: string
  readonly synchronous: boolean
  /** Whether the new leader certainly lacks something that was confirmed. */
  readonly loses?: true
  readonly fail: (patroni: Patroni, leader: number) => Promise<void> | void
  readonly mend?: (patroni: Patroni, leader: number) => void
}

const kinds = [
  { name: "switchover", fail: (patroni: Patroni) => patroni.switchOver() },
  {
    name: "a leader that is killed",
    fail: (patroni: Patroni, leader: number) => patroni.kill(leader),
    mend: (patroni: Patroni, leader: number) => patroni.revive(leader)
  },
  {
    name: "a leader that hangs",
    fail: (patroni: Patroni, leader: number) => patroni.freeze(leader),
    mend: (patroni: Patroni, leader: number) => patroni.thaw(leader)
  }
]

const failures: ReadonlyArray<Failure> = [
  ...kinds.map((kind) => ({ ...kind, synchronous: true })),
  ...kinds.map((kind) => ({ ...kind, synchronous: false })),
  {
    name: "a leader that is killed with commits that no standby has",
    synchronous: false,
    loses: true,
    fail: (patroni, leader) => patroni.kill(leader),
    mend: (patroni, leader) => patroni.revive(leader)
  }
]

/** Milliseconds: the time after which the lock of a dead leader is free, and five seconds. */
const patience = (ttl + 5) * 1_000

/** Projects that are made before and after. */
const enough = 40

describe("a store under Patroni", { tags: ["patroni"] }, () => {
  layer(Store.layer, { excludeTestServices: true })((it) => {
    for (const { fail, loses, mend, name, synchronous } of failures)
      it.effect(`${synchronous ? "synchronous" : "asynchronous"} replication: ${name}`, () =>
        Effect.gen(function* () {
          const { patroni, person, urls } = yield* Store
          yield* Effect.promise(() => patroni.replicate(synchronous))
          const { org, token } = yield* person
          const { headers } = yield* Effect.promise(() =>
            fetch(`${urls[0]}/v1/projects`, { headers: { authorization: `Bearer ${token}` } })
          )
          const from = headers.get("events-cursor") ?? ""
          const followers = urls.flatMap((url) =>
            Array.from({ length: 3 }, () => new Follower(Number(new URL(url).port), token, from))
          )
          const traffic = new Traffic(urls, token)
          const madeSince = (moment: number, count: number) =>
            eventually(
              `${count} projects`,
              Effect.sync(() => traffic.madeSince(moment) >= count)
            )
          yield* madeSince(0, enough)

          const leader = yield* Effect.promise(() => patroni.leader())
          if (loses) {
            patroni.isolate(leader)
            const had = Math.max(...followers.map(({ client }) => client.frames.length))
            yield* madeSince(performance.now(), 10)
            yield* eventually(
              "the events of what will be lost",
              Effect.sync(() => followers.every(({ client }) => client.frames.length > had + 10))
            )
          }
          const failed = performance.now()
          yield* Effect.promise(async () => fail(patroni, leader))
          // Some began before the failure and are answered after it.
          yield* madeSince(failed + 1_000, 2 * enough)
          mend?.(patroni, leader)
          // A former leader that goes on where it stopped confirms nothing.
          yield* madeSince(performance.now(), enough)
          yield* Effect.promise(() => traffic.stop())
          yield* Effect.promise(() => patroni.complete(synchronous))

          const rows = yield* patroni.admin(
            `select id::text from event_log where org_id = '${org}' and not internal order by id`,
            "narthex"
          )
          const log = rows.map(({ id }) => eventIdFromUuid(String(id)))
          const last = log.at(-1) ?? ""
          yield* eventually(
            "the last event at every client",
            Effect.sync(() => followers.every(({ client }) => client.lastId >= last))
          )
          yield* Effect.promise(() => Promise.all(followers.map((it) => it.stop())))

          const gone: Array<Call> = []
          for (const call of traffic.calls)
            if (call.project !== undefined) {
              const { status } = yield* ask(urls[1] ?? "", "GET", `/v1/projects/${call.project}`, token)
              if (status !== 200) gone.push(call)
            }
          const lost = gone.length
          const refused = traffic.calls.filter(({ status }) => status >= 400 || status === 0)
          // From the first call that fails: a switchover goes on for a while before it.
          const outage =
            refused.length === 0
              ? 0
              : Math.max(...refused.map(({ ended }) => ended)) - Math.min(...refused.map(({ begun }) => begun))
          const verdicts = followers.map(({ client }) => judge(log, client.frames))
          const ends = followers.flatMap((it) => it.ends)
          const slowest = Math.max(...traffic.calls.map(({ begun, ended }) => ended - begun))
          note(
            `${name}, ${synchronous ? "synchronous" : "asynchronous"}: ${traffic.made.length} projects, ${lost} lost; ${refused.length} calls refused within ${(outage / 1_000).toFixed(1)} s, slowest call ${(slowest / 1_000).toFixed(1)} s; ${ends.length} of ${followers.length} streams ended, ${verdicts.reduce((sum, { gaps }) => sum + gaps, 0)} gaps`
          )
          assert.deepStrictEqual(
            verdicts.flatMap(({ wrong }) => wrong),
            []
          )
          assert.deepStrictEqual(
            refused.filter(({ retryAfter, status }) => status !== 503 || retryAfter === null),
            []
          )
          assert.deepStrictEqual(
            [...new Set(followers.flatMap(({ client }) => client.refusals))].filter((it) => it !== 503),
            []
          )
          assert.deepStrictEqual(
            gone.filter(({ begun }) => begun > failed + 1_000),
            [],
            "what was confirmed after the failure stays"
          )
          const gaps = verdicts.reduce((sum, verdict) => sum + verdict.gaps, 0)
          if (synchronous) assert.deepStrictEqual({ lost, ends, gaps }, { lost: 0, ends: [], gaps: 0 })
          if (loses) {
            assert.isAbove(lost, 0)
            assert.deepStrictEqual(
              verdicts.filter(({ gaps, lost }) => lost === 0 || gaps === 0),
              []
            )
          }
          assert.isBelow(outage, patience)
          assert.isBelow(slowest, patience)
        })
      )

    it.effect("a client that had what was lost gets a gap from an instance that never had it", () =>
      Effect.gen(function* () {
        const { patroni, person, third, urls } = yield* Store
        yield* Effect.promise(() => patroni.replicate(false))
        const { token } = yield* person
        const make = ask(urls[0] ?? "", "POST", "/v1/projects", token, { name: "p" })
        const staying = new Follower(third.port, token, "")
        const hopping = new StreamClient("/v1/events", token, "")
        const before = hopping.follow(Number(new URL(urls[0] ?? "").port))
        yield* eventually(
          "an event at both clients",
          Effect.andThen(
            make,
            Effect.sync(() => [staying.client, hopping].every(({ frames }) => frames.length > 0))
          ),
          { every: 500 }
        )
        third.signal("SIGSTOP")
        const leader = yield* Effect.promise(() => patroni.leader())
        patroni.isolate(leader)
        const { branch } = (yield* make).body
        yield* eventually(
          "an event of the lost project",
          Effect.sync(() => hopping.frames.some(({ data }) => data["branch_id"] === branch.id))
        )
        hopping.drop()
        yield* Effect.promise(() => before)
        const { lastId: last_event_id } = hopping
        patroni.kill(leader)
        const works = Effect.map(make, ({ status }) => status === 201)
        yield* eventually("the new leader", works, { every: 500 })
        third.signal("SIGCONT")
        yield* eventually(
          "newer events at the third instance",
          Effect.sync(() => staying.client.lastId > last_event_id)
        )
        const seen = hopping.frames.length
        const after = hopping.follow(third.port)
        yield* eventually(
          "a frame",
          Effect.sync(() => hopping.frames.length > seen)
        )
        assert.deepInclude(hopping.frames[seen], { event: "resume.gap.v1" })
        assert.deepInclude(hopping.frames[seen]?.data, { last_event_id })
        hopping.drop()
        yield* Effect.promise(() => Promise.all([after, staying.stop()]))
        patroni.revive(leader)
        yield* Effect.promise(() => patroni.complete())
      })
    )
  })
})

/**
 * Lets credentials expire while their streams are open: keys, session tokens, and rotated secrets in their grace
 * period.
 *
 * docs/design/events.md E28: every instance ends a stream by its own timer, five seconds before its credential expires;
 * a stream that is opened later than that ends at once. The servers' clocks stand still and are set one after the
 * other: to the last millisecond before that instant, to the instant, into the margin, to the credential's expiry. An
 * event that is committed before a server's clock reaches the instant must arrive from it; one that is committed
 * afterwards must not.
 */
import { defaultEventSettings, TokenSigner } from "@narthex/core"
import { JoseTokenSigner, MasterSecret } from "@narthex/http"
import { Database } from "@narthex/postgres"
import { Clock, Duration, Effect, Fiber, Layer, Random, Redacted } from "effect"
import { eventually, within } from "../../harness/eventually.ts"
import { times } from "../../harness/long.ts"
import type { ApiProcess } from "./ApiProcesses.ts"
import { headOfLog, outcomeOf, untilShown } from "./judgeEnds.ts"
import { type Connection, connect, judgeExpiry } from "./judgeExpiry.ts"
import { MovableClock } from "./MovableClock.ts"
import { commit, logged } from "./platform.ts"
import { anyOf, type Key, makeKey, makeTeam, type Team } from "./rights.ts"
import { issuer, masterKey } from "./secrets.ts"

const eachWay = times(3, 24)
const margin = Duration.toMillis(defaultEventSettings.expiry_margin)
/** From the beginning to the credentials' expiry. It takes no real time, because the clocks are set. */
const lifetime = margin + 10_000

/** A credential and its streams on every server, opened long before it expires. */
interface Expiring {
  readonly way: string
  readonly token: string
  readonly early: ReadonlyArray<Connection>
}

/** Signs as the servers do. */
export const layerSigner = JoseTokenSigner.layer({ issuer }).pipe(
  Layer.provide(MasterSecret.layerGiven(Redacted.make(masterKey)))
)

const anyMoment = Effect.flatMap(Random.nextIntBetween(0, 15), (millis) => Effect.sleep(millis))

const everywhere = (servers: ReadonlyArray<ApiProcess>, token: string) =>
  servers.map((server) => connect(token, server))

/** The API takes whole days only, so the expiry is written to the store. */
const expiringKey = (servers: ReadonlyArray<ApiProcess>, { id, secret }: Key, until: number) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    yield* query("test", "update narthex.api_key set expires_at = $2 where id = $1", [id, new Date(until)])
    return { way: "expired key", token: secret, early: everywhere(servers, secret) }
  })

/** The claims of a session, signed again with a near expiry. */
const expiringToken = (servers: ReadonlyArray<ApiProcess>, team: Team, until: number) =>
  Effect.gen(function* () {
    const { sign, verify } = yield* TokenSigner
    // The servers' clocks may be far from this process' own.
    const clock = new MovableClock()
    clock.stand(until - lifetime)
    const claims = yield* Effect.provideService(verify(Redacted.make(team.token)), Clock.Clock, clock)
    const token = Redacted.value(yield* sign({ ...claims, exp: until / 1_000 }))
    return { way: "expired session token", token, early: everywhere(servers, token) }
  })

/** The streams of the secret are opened while it is rotated, so that some instances do not know its expiry yet. */
const expiringSecret = (servers: ReadonlyArray<ApiProcess>, team: Team, { id, secret }: Key, until: number) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const early = Effect.forEach(
      servers,
      (server) =>
        Effect.andThen(
          anyMoment,
          Effect.sync(() => connect(secret, server))
        ),
      { concurrency: "unbounded" }
    )
    const body = { grace_seconds: lifetime / 1_000 }
    const path = `/v1/api-keys/${id}/rotate`
    const rotate = Effect.andThen(anyMoment, team.anywhere.api("POST", path, { token: team.token, body }))
    const [opened] = yield* Effect.all([early, rotate], { concurrency: 2 })
    const [row] = yield* query<{ readonly until: number }>(
      "test",
      `select (extract(epoch from dies_at) * 1000)::float8 as until from narthex.api_key_secret
       where key_id = $1 and dies_at is not null`,
      [id]
    )
    if (row?.until !== until) return yield* Effect.die(new Error(`The grace ends at ${row?.until}, not at ${until}.`))
    return { way: "secret whose grace is over", token: secret, early: opened }
  })

/** Commits continuously, and on demand. */
const makeTraffic = (team: Team) => {
  let n = 0
  const one = Effect.suspend(() => {
    const number = ++n
    return Effect.as(commit(team.id, null, [number]), number)
  })
  return { one, steady: Effect.forever(Effect.delay(one, 12)), begun: () => n }
}

/** Lets this many credentials of each kind expire in a new organization. Returns the time of the clocks afterwards. */
export const expireRights = (servers: ReadonlyArray<ApiProcess>, boss: string, at: number) =>
  Effect.gen(function* () {
    const standAt = (server: ApiProcess, time: number) => Effect.promise(() => server.tell({ stand: time }))
    const allStandAt = (time: number) =>
      Effect.forEach(servers, (server) => standAt(server, time), { concurrency: "unbounded" })
    yield* allStandAt(at)
    const until = at + lifetime
    const team = yield* makeTeam(anyOf(servers), boss)
    const head = yield* headOfLog
    const traffic = makeTraffic(team)
    const steady = yield* Effect.forkChild(traffic.steady)
    const keys = yield* Effect.all(
      Array.from({ length: 2 * eachWay }, () => makeKey(team, team.token)),
      { concurrency: 16 }
    )
    const arms: ReadonlyArray<Effect.Effect<Expiring, unknown, Database | TokenSigner>> = keys.flatMap((key, nth) =>
      nth % 2 === 0
        ? [expiringKey(servers, key, until), expiringToken(servers, team, until)]
        : [expiringSecret(servers, team, key, until)]
    )
    const expiring = yield* Effect.all(arms, { concurrency: "unbounded" })
    const early = expiring.flatMap((it) => it.early)
    /** A number that was committed now is on every stream of a server that is to go on. */
    const flows = (what: string, streams: ReadonlyArray<Connection>) =>
      Effect.gen(function* () {
        const number = yield* traffic.one
        const has = ({ client }: Connection) => client.frames.some(({ data }) => data["n"] === number)
        yield* eventually(
          `event ${number} on every stream ${what}`,
          Effect.sync(() => streams.every((it) => has(it) || it.isOver()))
        )
        return streams.filter((it) => !has(it)).map(() => `a stream ended ${what}`)
      })
    // From then on each comes back with a position, if it has to because its secret is rotated.
    yield* eventually(
      "an event on every stream",
      Effect.sync(() => early.every(({ client, isOver }) => client.frames.length > 0 || isOver()))
    )
    const wrong: Array<string> = []
    yield* allStandAt(until - margin - 1)
    wrong.push(...(yield* flows("a millisecond before its credential's margin", early)))

    /** Streams that are opened at any moment around the one in which their server gets there. */
    const late: Array<{ readonly way: string; readonly connection: Connection }> = []
    const open = (server: ApiProcess) =>
      Effect.forEach(
        expiring,
        ({ token, way }) => Effect.map(anyMoment, () => late.push({ way, connection: connect(token, server) })),
        { concurrency: "unbounded", discard: true }
      )
    /** How many commits had begun when a server was there: what has a greater number must not come from it. */
    const last = new Map<ApiProcess, number>()
    for (const [nth, server] of servers.entries()) {
      const reach = Effect.gen(function* () {
        yield* anyMoment
        yield* standAt(server, until - margin)
        last.set(server, traffic.begun())
      })
      yield* Effect.all([open(server), reach], { concurrency: 2, discard: true })
      const ended = early.filter((it) => it.server === server)
      yield* Effect.promise(() =>
        within(`the end of ${ended.length} streams`, Promise.all(ended.map(({ over }) => over)))
      )
      // The others go by their own clock.
      const others = early.filter((it) => servers.indexOf(it.server) > nth)
      wrong.push(...(yield* flows("when another server's clock had passed its credential's margin", others)))
    }
    yield* allStandAt(until - (yield* Random.nextIntBetween(1, margin)))
    const marginal = expiring.flatMap(({ token, way }) =>
      everywhere(servers, token).map((connection) => ({ way, connection }))
    )
    yield* Effect.promise(() =>
      within(
        "the end of streams that were opened too late",
        Promise.all([...late, ...marginal].map(({ connection }) => connection.over))
      )
    )
    yield* allStandAt(until)
    const afterwards = expiring.flatMap(({ token, way }) =>
      everywhere(servers, token).map((connection) => ({ way, connection }))
    )
    yield* Effect.promise(() =>
      within("the answers to expired credentials", Promise.all(afterwards.map(({ connection }) => connection.over)))
    )
    const final = yield* traffic.one
    yield* Fiber.interrupt(steady)

    const log = yield* untilShown(
      "the last event in the log",
      Effect.map(logged(team.id, head.pos), (rows) => (rows.some(({ n }) => n === final) ? rows : undefined))
    )
    const first = expiring.flatMap(({ early: streams, way }) => streams.map((connection) => ({ way, connection })))
    const verdicts = [
      ...[...first, ...late].map((it) => judgeExpiry(log, last, it, "before")),
      ...marginal.map((it) => judgeExpiry(log, last, it, "margin")),
      ...afterwards.map((it) => judgeExpiry(log, last, it, "afterwards")),
      { late: 0, wrong }
    ]
    const outcome = outcomeOf(
      expiring.map(({ way }) => way),
      [...first, ...late, ...marginal].map(({ connection }) => connection.client),
      verdicts
    )
    return { outcome, at: until }
  })

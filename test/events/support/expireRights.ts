/**
 * Lets credentials expire while their streams are open: keys, session tokens, and secrets that a rotation left a grace.
 *
 * What events.md promises (§7): every instance ends a stream by its own timer, five seconds before its credential's end;
 * one that is opened later than that ends at once. Nothing stands in the log at that instant, so time is the judge here:
 * what the log took in at the credential's end or later must not have arrived.
 */
import { defaultEventSettings, eventIdFromUuid, TokenSigner } from "@narthex/core"
import { JoseTokenSigner, MasterSecret } from "@narthex/http"
import { Database } from "@narthex/postgres"
import { Duration, Effect, Fiber, Layer, Option, Random, Redacted } from "effect"
import type { ApiProcess } from "./ApiProcesses.ts"
import { headOfLog, outcomeOf, untilShown, type Verdict } from "./judgeEnds.ts"
import { commit } from "./platform.ts"
import { anyOf, type Key, makeKey, makeTeam, type Team } from "./rights.ts"
import { issuer, masterKey } from "./secrets.ts"
import { StreamClient } from "./StreamClient.ts"

const eachWay = 24
const margin = Duration.toMillis(defaultEventSettings.expiryMargin)
/** How long answers are waited for at the end. */
const patience = "10 seconds"

interface Connection {
  readonly client: StreamClient
  /** When it was asked for, and when the stream's head was there. */
  readonly asked: number
  readonly opened: () => number | undefined
  /** When it was over. */
  readonly over: Promise<number>
}

interface Expiring {
  readonly way: string
  readonly token: string
  /** The credential's end, in milliseconds of the clock that everybody here shares. */
  readonly until: number
  /** Streams on every server, opened when the end is near, but not yet. */
  readonly early: ReadonlyArray<Connection>
}

/** Signs like the servers do. */
export const layerSigner = JoseTokenSigner.layer({ issuer }).pipe(
  Layer.provide(MasterSecret.layerGiven(Redacted.make(masterKey)))
)

/** An instant that is soon enough for a test, and late enough for a stream before the margin. */
const soon = Effect.map(Random.nextIntBetween(margin + 2_000, margin + 4_000), (millis) => Date.now() + millis)

/** Whoever was there when the secret was rotated comes back, until every server has heard of the rotation. */
const connect = (token: string, port: number): Connection => {
  const client = new StreamClient("/v1/events", token, "")
  const asked = Date.now()
  let opened: number | undefined
  const head = () => {
    opened = Date.now()
  }
  const follow = async (): Promise<number> => {
    for (let turn = 0; turn < 100; turn++) {
      await client.follow(port, head)
      if (client.refusals.length > 0 || client.comments.at(-1)?.includes("reason=revoked") !== true) break
    }
    return Date.now()
  }
  return { client, asked, opened: () => opened, over: follow() }
}

/** What became of it; whatever still goes on is cut off. */
const settled = ({ asked, client, opened, over }: Connection) =>
  Effect.gen(function* () {
    const ended = Option.getOrUndefined(
      yield* Effect.timeoutOption(
        Effect.promise(() => over),
        patience
      )
    )
    client.drop()
    return { asked, client, opened: opened(), over: ended }
  })

const everywhere = (servers: ReadonlyArray<ApiProcess>, token: string) =>
  servers.map(({ port }) => connect(token, port))

/** Keys expire in whole days, so the end is written to the store. */
const expiringKey = (servers: ReadonlyArray<ApiProcess>, { id, secret }: Key) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const until = yield* soon
    yield* query("test", "update api_key set expires_at = $2 where id = $1", [id, new Date(until)])
    return { way: "expired key", token: secret, until, early: everywhere(servers, secret) }
  })

/** The claims of a session of ours, signed once more with a near end. */
const expiringToken = (servers: ReadonlyArray<ApiProcess>, team: Team) =>
  Effect.gen(function* () {
    const { sign, verify } = yield* TokenSigner
    const claims = yield* verify(Redacted.make(team.token))
    const exp = Math.ceil((yield* soon) / 1_000)
    const token = Redacted.value(yield* sign({ ...claims, exp }))
    return { way: "expired session token", token, until: exp * 1_000, early: everywhere(servers, token) }
  })

/** Its streams are opened while it is rotated, so that some know nothing of its end. */
const expiringSecret = (servers: ReadonlyArray<ApiProcess>, team: Team, { id, secret }: Key) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const anyMoment = Effect.flatMap(Random.nextIntBetween(0, 15), (millis) => Effect.sleep(millis))
    const early = Effect.forEach(
      servers,
      ({ port }) =>
        Effect.andThen(
          anyMoment,
          Effect.sync(() => connect(secret, port))
        ),
      { concurrency: "unbounded" }
    )
    const body = { grace_seconds: margin / 1_000 + (yield* Random.nextIntBetween(2, 4)) }
    const path = `/v1/api-keys/${id}/rotate`
    const rotate = Effect.andThen(anyMoment, team.anywhere.api("POST", path, { token: team.token, body }))
    const [opened] = yield* Effect.all([early, rotate], { concurrency: 2 })
    const [row] = yield* query<{ readonly until: number }>(
      "test",
      `select (extract(epoch from dies_at) * 1000)::float8 as until from api_key_secret
       where key_id = $1 and dies_at is not null`,
      [id]
    )
    return { way: "secret whose grace is over", token: secret, until: row?.until ?? 0, early: opened }
  })

const sleepUntil = (instant: number) => Effect.suspend(() => Effect.sleep(Math.max(0, instant - Date.now())))

/** The log's ids with the time in them, which is the log's own. */
const idsAfter = (pos: number, org: string) =>
  Effect.flatMap(Database, ({ query }) =>
    Effect.map(
      query<{ readonly id: string; readonly n: number }>(
        "test",
        `select id, (data->>'n')::int as n from event_log where org_id = $1 and pos > $2 and not internal order by pos`,
        [org, pos]
      ),
      (rows) =>
        rows.map(({ id, n }) => ({
          id: eventIdFromUuid(id),
          n,
          at: Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)
        }))
    )
  )

/** The early streams, and more on every server that are opened at any moment until the credential is over. */
const follow = (servers: ReadonlyArray<ApiProcess>, expiring: Expiring) =>
  Effect.gen(function* () {
    const { early, token, until } = expiring
    const late = (port: number) =>
      Effect.gen(function* () {
        yield* sleepUntil(until - (yield* Random.nextIntBetween(-50, margin + 1_000)))
        return connect(token, port)
      })
    const others = yield* Effect.forkChild(
      Effect.forEach(servers, ({ port }) => late(port), { concurrency: "unbounded" })
    )
    yield* sleepUntil(until)
    const last = connect(token, yield* anyOf(servers).port)
    const connections = [...early, ...(yield* Fiber.join(others))]
    const ends = yield* Effect.forEach(connections, settled, { concurrency: "unbounded" })
    yield* settled(last)
    return { expiring, ends, refused: last.client.refusals[0] }
  })

type Followed = Effect.Success<ReturnType<typeof follow>>
type Logged = Effect.Success<ReturnType<typeof idsAfter>>

const judged = (log: Logged, from: string, { ends, expiring, refused }: Followed): Verdict => {
  const { until, way } = expiring
  const wrong: Array<string> = []
  const complain = (what: string) => wrong.push(`${way}: ${what}`)
  const allowed = new Set(log.filter(({ at }) => at < until).map(({ id }) => id))
  const ids = log.map(({ id }) => id)
  let late = 0
  if (refused !== 401) complain(`came back to ${refused}`)
  for (const { asked, client, opened, over } of ends) {
    const got = client.frames.map(({ id }) => id).filter((id) => id > from)
    late += got.filter((id) => !allowed.has(id)).length
    const begun = ids.indexOf(got[0] ?? "")
    if (got.length > 0 && got.join() !== ids.slice(begun, begun + got.length).join()) complain("events were left out")
    if (opened === undefined) {
      if (client.refusals[0] !== 401) complain(`was answered ${client.refusals[0]}`)
      continue
    }
    const deadline = until - margin
    if (over === undefined) complain("a stream went on")
    else if (asked >= deadline) {
      if (client.frames.length > 0) complain("something came to who was too late")
    } else if (!client.comments.some((comment) => comment.includes("closing reason=token_expired")))
      complain(`the stream said ${client.comments.join("|")}`)
    else if (over < deadline) complain(`a stream ended ${deadline - over} ms too early`)
  }
  if (late > 0) complain(`${late} events came too late`)
  return { late, wrong }
}

/** Lets so many credentials of every way expire in an organization of theirs. */
export const expireRights = (servers: ReadonlyArray<ApiProcess>, boss: string) =>
  Effect.gen(function* () {
    const team = yield* makeTeam(anyOf(servers), boss)
    const head = yield* headOfLog
    let n = 0
    let committing = true
    const committer = Effect.gen(function* () {
      while (committing) yield* Effect.delay(commit(team.id, null, [++n]), 12)
    })
    const committers = yield* Effect.forkChild(committer)
    const keys = yield* Effect.all(
      Array.from({ length: 2 * eachWay }, () => makeKey(team, team.token)),
      { concurrency: 16 }
    )
    const expiring: ReadonlyArray<Effect.Effect<Expiring, unknown, Database | TokenSigner>> = keys.flatMap((key, at) =>
      at % 2 === 0 ? [expiringKey(servers, key), expiringToken(servers, team)] : [expiringSecret(servers, team, key)]
    )
    const followed = yield* Effect.forEach(expiring, (arm) => Effect.flatMap(arm, (it) => follow(servers, it)), {
      concurrency: "unbounded"
    })
    committing = false
    yield* Fiber.join(committers)

    const log = yield* untilShown(
      Effect.map(idsAfter(head.pos, team.id), (rows) => (rows.some((row) => row.n === n) ? rows : undefined))
    )
    const outcome = outcomeOf(
      followed.map(({ expiring: { way } }) => way),
      followed.flatMap(({ ends }) => ends.map(({ client }) => client)),
      followed.map((it) => judged(log, head.id, it))
    )
    return outcome.events > 0 ? outcome : { ...outcome, wrong: [...outcome.wrong, "nothing came while they lasted"] }
  })

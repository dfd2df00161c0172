/**
 * `Idempotency-Key` over deaths of the server's process: SIGKILL at any moment of several calls at once. A call that
 * was committed is replayed, a call that was not runs, and none has a second effect. The steps of a call are in
 * `packages/http/test/handlers/idempotency.crashes.test.ts`; here the process itself dies.
 * Holds docs/design/api.md A25.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { stablePorts } from "../walk/stablePorts.ts"
import { signIn } from "./support/ask.ts"
import { Program } from "./support/Program.ts"
import { type Repeatable, repeatables } from "./support/repeatable.ts"
import { Serving } from "./support/Serving.ts"

/** Rounds of one person, whose organization may hold a limited number of projects. */
const roundsOfOne = 20

const send = (url: string, { body, method, name, path, token }: Repeatable) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        // A connection to a server that was killed must not be used for the next one, which has its port.
        connection: "close",
        "idempotency-key": name,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000)
    })
    await response.text()
    return { status: response.status, replayed: response.headers.has("idempotent-replayed") }
  })

const tables = ["project", "branch", "endpoint", "operation", "organization", "organization_founder", "membership"]
/** The rows of the tables that the calls change, and the events that were emitted. */
const census = `select ${tables.map((table) => `(select count(*) from ${table})::int as ${table}`).join(", ")},
  ((select count(*) from event_outbox) + (select count(*) from event_log))::int as events`

const difference = (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(after).map(([name, count]) => [name, Number(count) - Number(before[name])]))

layer(Serving.layer, { excludeTestServices: true, timeout: "3 hours" })("a server that dies", (it) => {
  it.effect("calls with idempotency keys take effect once each, whenever the process of the server is killed", () =>
    Effect.gen(function* () {
      const { database, environment, issuer } = yield* Serving
      // One port for all restarts: the API's URL is the issuer of the token.
      const [port] = yield* Effect.promise(() => stablePorts(1))
      const settings = {
        ...environment,
        NARTHEX_API_PORT: String(port),
        NARTHEX_QUOTA_PERSONAL_PERCENT: "100",
        NARTHEX_RATE_LIMITS: "off"
      }
      const { admin } = yield* PostgresServer
      const counted = Effect.map(admin(census, database), ([row]) => row ?? {})
      const finish = admin("update operation set status = 'finished' where status = 'scheduling'", database)
      const start = Effect.gen(function* () {
        const scope = yield* Scope.make()
        const program = yield* Scope.provide(Program.start("server", ["--roles", "api"], settings), scope)
        return { url: program.address("api"), kill: Scope.close(scope, Exit.void) }
      })
      let server = yield* start
      const signedIn = (round: number) => signIn(server.url, issuer.idToken(`person-${round}@example.com`))
      const prepared = (owner: { readonly token: string; readonly user: string }, round: string) =>
        repeatables({ url: server.url, idToken: issuer.idToken, finish }, owner, round)

      // The changes of the calls when nothing dies.
      const first = yield* prepared(yield* signedIn(-1), "whole")
      const empty = yield* counted
      for (const call of first) assert.strictEqual((yield* send(server.url, call)).status, call.status, call.name)
      const usual = difference(empty, yield* counted)

      const rounds = times(2, 200)
      let [sentOnce, replays] = [0, 0]
      let owner = yield* signedIn(0)
      for (let round = 0; round < rounds; round++) {
        if (round % roundsOfOne === 0) owner = yield* signedIn(round)
        const calls = yield* prepared(owner, String(round))
        const before = yield* counted
        const { url } = server
        const sent = yield* Effect.forEach(calls, (call) => Effect.forkChild(Effect.exit(send(url, call))))
        yield* Effect.sleep(Math.random() * 60)
        yield* server.kill
        yield* Effect.forEach(sent, Fiber.join)
        server = yield* start
        yield* admin("update idempotency_record set lease_until = now() - interval '1 hour'", database)
        for (const call of calls) {
          const { replayed, status } = yield* send(server.url, call)
          assert.include([call.status, call.gone], status, call.name)
          if (replayed || status === call.gone) replays += 1
        }
        assert.deepStrictEqual(difference(before, yield* counted), usual, `round ${round}`)
        sentOnce += calls.length
      }
      yield* server.kill
      note(`${rounds} kills, ${sentOnce} calls; ${replays} of them had committed before.`)
    })
  )
})

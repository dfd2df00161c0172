/**
 * `Idempotency-Key` over deaths of the server's process: SIGKILL at any moment of several calls at once. What was
 * committed is replayed, what was not runs, and nothing has a second effect. The steps of a call are in
 * `packages/http/test/handlers/idempotency.crashes.test.ts`; here the process itself dies.
 * Holds docs/design/api.md A25.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { stablePorts } from "../walk/stablePorts.ts"
import { ask, signIn } from "./support/ask.ts"
import { Program } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

const calls = 4
/** Rounds of one person, whose organization may hold a limited number of projects. */
const roundsOfOne = 20

const create = (url: string, token: string, name: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/v1/projects`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        // A connection to a server that was killed must not be used for the next one, which has its port.
        connection: "close",
        "content-type": "application/json",
        "idempotency-key": name
      },
      body: JSON.stringify({ name }),
      signal: AbortSignal.timeout(30_000)
    })
    await response.text()
    return { status: response.status, replayed: response.headers.has("idempotent-replayed") }
  })

layer(Serving.layer, { excludeTestServices: true, timeout: "3 hours" })("a server that dies", (it) => {
  it.effect("calls with idempotency keys take effect once each, whenever the process of the server is killed", () =>
    Effect.gen(function* () {
      const { database, environment, issuer } = yield* Serving
      // One port for all restarts: the API's URL is the issuer of the token.
      const [port] = yield* Effect.promise(() => stablePorts(1))
      const settings = { ...environment, NARTHEX_API_PORT: String(port), NARTHEX_QUOTA_PERSONAL_PERCENT: "100" }
      const { admin } = yield* PostgresServer
      const start = Effect.gen(function* () {
        const scope = yield* Scope.make()
        const program = yield* Scope.provide(Program.start("server", ["--roles", "api"], settings), scope)
        return { url: program.address("api"), kill: Scope.close(scope, Exit.void) }
      })
      let server = yield* start
      const rounds = times(2, 200)
      let replays = 0
      let token = ""
      for (let round = 0; round < rounds; round++) {
        if (round % roundsOfOne === 0) {
          const person = `person-${round}@example.com`
          token = (yield* signIn(server.url, issuer.idToken(person))).token
        }
        const names = Array.from({ length: calls }, (_, n) => `p-${round}-${n}`)
        const { url } = server
        const sent = yield* Effect.forEach(names, (name) => Effect.forkChild(Effect.exit(create(url, token, name))))
        yield* Effect.sleep(Math.random() * 60)
        yield* server.kill
        yield* Effect.forEach(sent, Fiber.join)
        server = yield* start
        yield* admin("update idempotency_record set lease_until = now() - interval '1 hour'", database)
        for (const name of names) {
          const { replayed, status } = yield* create(server.url, token, name)
          assert.strictEqual(status, 201, name)
          if (replayed) replays += 1
        }
        const { body } = yield* ask(server.url, "GET", "/v1/projects?limit=1000", token)
        const made: ReadonlyArray<string> = body.projects.map(({ name }: { readonly name: string }) => name)
        assert.sameMembers(
          made.filter((name) => name.startsWith(`p-${round}-`)),
          names
        )
      }
      yield* server.kill
      note(`${rounds} kills, ${rounds * calls} calls; ${replays} of them had committed before.`)
    })
  )
})

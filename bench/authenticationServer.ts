/**
 * The servers of the authentication benchmark, each in its own process.
 *
 * `api` is the real server: listener, middleware, handlers, services, Postgres. `bare` is node:http that runs the same
 * statements for credentials that it receives at start: it reads no header, verifies nothing and decodes nothing.
 * `smallest` is that as an API of Effect. `peer` is better-auth. `node authenticationServer.ts [options as JSON]` prints `{"port"}`. Without an
 * argument the first line on stdin has the options. It replies to each other line with its CPU time in microseconds, and
 * exits at the end of stdin.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import { createInterface } from "node:readline"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import {
  IdentityProvider,
  KeyDigester,
  layerMemoryComputes,
  layerServices,
  ProviderView,
  RegionCatalog,
  RegionId
} from "@narthex/core"
import {
  Draining,
  JoseTokenSigner,
  layerApiServer,
  MasterSecret,
  nodeHmacSha256,
  RateLimits,
  ServerIdentity
} from "@narthex/http"
import { Database, PostgresStorage } from "@narthex/postgres"
import { DateTime, Duration, Effect, Layer, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import postgres from "postgres"
import type { Fixed, ServerOptions } from "./authenticationLoad.ts"
import { peer } from "./authenticationPeer.ts"
import { sequenceStatement, tailStatement } from "./authenticationStore.ts"
import { smallestApi } from "./smallestApi.ts"

const lines = createInterface({ input: process.stdin })
const given = process.argv[2] ?? String((await once(lines, "line"))[0])
// The benchmark passes its own type as JSON.
const options = JSON.parse(given) as ServerOptions
const connections = 8

lines
  .on("line", () => {
    const { system, user } = process.cpuUsage()
    process.stdout.write(`${JSON.stringify({ cpu: system + user })}\n`)
  })
  .on("close", () => process.exit(0))

const up = (port: number) => process.stdout.write(`${JSON.stringify({ port })}\n`)

const bare = ({ changes = [], parameters, statements }: Fixed) => {
  const { database, host, user } = options.store
  const sql = postgres({ host, database, username: user, max: connections, idle_timeout: 0 })
  let turn = 0
  let [sequencing, waiting, read] = [false, false, 0]
  /** Gives committed events their ids and reads them, one run at a time, however many commits ask for one. */
  const sequence = async () => {
    waiting = true
    if (sequencing) return
    sequencing = true
    while (waiting) {
      waiting = false
      await sql.unsafe(sequenceStatement, [500], { prepare: true })
      const events = await sql.unsafe(tailStatement, [read, 500], { prepare: true })
      read = Number(events.at(-1)?.["pos"] ?? read)
    }
    sequencing = false
  }
  const server = createServer(async (_, response) => {
    const given = parameters[turn++ % parameters.length] ?? []
    let rows: ReadonlyArray<object> = []
    const run = async (on: Pick<typeof sql, "unsafe">, all: ReadonlyArray<string>, from = 0) => {
      for (const [at, statement] of all.entries())
        rows = await on.unsafe(statement, [...(given[from + at] ?? [])], { prepare: true })
    }
    await run(sql, statements)
    if (changes.length > 0) {
      await sql.begin((on) => run(on, changes, statements.length))
      void sequence()
    }
    const body = JSON.stringify(rows)
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    response.end(body)
  })
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    up(typeof address === "object" && address !== null ? address.port : 0)
  })
}

/** Accepts every id token, and takes it for the email address of the user. */
const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "bench", name: "Bench", issuer: "https://issuer.test" })],
  verify: ({ id_token }) =>
    Effect.succeed({
      provider: "bench",
      issuer: "https://issuer.test",
      subject: Redacted.value(id_token),
      email: Redacted.value(id_token),
      email_verified: true,
      name: null,
      token_digest: Redacted.value(id_token),
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
})

const api = () => {
  const { database, host, user } = options.store
  const url = `postgresql:///${database}?host=${encodeURIComponent(host)}&user=${user}`
  const base = JoseTokenSigner.layer({ issuer: "http://api.test" }).pipe(
    Layer.merge(
      Layer.unwrap(
        Effect.map(
          Effect.flatMap(MasterSecret, (master) => master.pepper(1)),
          (pepper) => KeyDigester.layerBy(nodeHmacSha256, pepper)
        )
      )
    ),
    Layer.provideMerge(MasterSecret.layerGiven(Redacted.make(Buffer.alloc(32, 7).toString("base64url")))),
    Layer.provideMerge(
      Layer.effectDiscard(Effect.flatMap(RegionCatalog, (catalog) => catalog.seed([RegionId.make("local")])))
    ),
    Layer.provideMerge(PostgresStorage.layer),
    Layer.provideMerge(
      Database.layer({ url: Redacted.make(url), maxConnections: connections, applicationName: "narthex-bench" })
    ),
    Layer.provideMerge(Layer.mergeAll(Believer, layerMemoryComputes))
  )
  const announced = Layer.effectDiscard(
    Effect.map(HttpServer.HttpServer, ({ address }) => up("port" in address ? address.port : 0))
  )
  const references = Layer.mergeAll(
    Layer.succeed(References.MinimumLogLevel, "None"),
    // As in the server without a collector of traces.
    Layer.succeed(References.TracerEnabled, false),
    Layer.succeed(RateLimits, null),
    Layer.succeed(ServerIdentity, {
      console_url: "http://console.test",
      origin: { trusted_hops: 0, console_token: null },
      proxy_token: null,
      cli_latest: "0.1.0",
      heartbeat: Duration.seconds(15)
    })
  )
  NodeRuntime.runMain(
    Layer.launch(
      announced.pipe(
        Layer.provideMerge(layerApiServer({ host: "127.0.0.1", port: 0, grace: Duration.seconds(1) })),
        Layer.provideMerge(layerServices),
        Layer.provideMerge(Draining.layer),
        Layer.provideMerge(base),
        Layer.provide(references)
      )
    )
  )
}

if (options.kind === "api") api()
else if (options.kind === "bare") bare(options)
else if (options.kind === "peer") await peer(options, (port, tokens) => console.log(JSON.stringify({ port, tokens })))
else NodeRuntime.runMain(smallestApi(options, up))

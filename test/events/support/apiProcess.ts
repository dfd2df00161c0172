/**
 * An API server that shares a Postgres with others, as a process that tests can kill: the real listener, handlers,
 * services and stores. Only the identity provider accepts every token, and the clock is the test's.
 *
 * `node apiProcess.ts <options as JSON>` prints `{"port", "admin"}` when it is up; `admin` if the options request that
 * listener. Each line on stdin is a `Command`, answered by a line when it is done. SIGTERM drains the process, and it
 * exits when its stdin closes, so it does not outlive the test.
 */
import { tracingChannel } from "node:diagnostics_channel"
import { createServer } from "node:http"
import type { Server } from "node:net"
import { createInterface } from "node:readline"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import {
  AccessPolicy,
  defaultEventSettings,
  EventSettings,
  IdentityProvider,
  InvalidIdToken,
  KeyDigester,
  KeyLimit,
  layerMemoryComputes,
  layerServices,
  ProviderView,
  RegionCatalog,
  RegionId,
  SessionPolicy
} from "@narthex/core"
import { Draining, JoseTokenSigner, layerApiServer, MasterSecret, RateLimits, ServerIdentity } from "@narthex/http"
import { Database, PostgresStorage } from "@narthex/postgres"
import { Clock, DateTime, Duration, Effect, Layer, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import { layerNodeServing, NodeServing } from "../../../packages/http/test/support/nodeServing.ts"
import { layerAdmin } from "../../../packages/server/src/admin.ts"
import type { ApiOptions, Command } from "./ApiProcesses.ts"
import { MovableClock } from "./MovableClock.ts"
import { issuer, masterKey } from "./secrets.ts"

// Written by the test.
const options = JSON.parse(process.argv[2] ?? "{}") as ApiOptions & { readonly url: string }

const clock = new MovableClock()

/** Accepts `email:<address>:<salt>`. */
const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "test", name: "Test", issuer: "https://issuer.test" })],
  verify: ({ id_token }) => {
    const [kind, email, salt = ""] = Redacted.value(id_token).split(":")
    if (kind !== "email" || email === undefined) return Effect.fail(new InvalidIdToken({ cause: "unknown token" }))
    return Effect.succeed({
      provider: "test",
      issuer: "https://issuer.test",
      subject: email,
      email,
      email_verified: true,
      name: null,
      token_digest: `${email} ${salt}`,
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
  }
})

const events = {
  ...defaultEventSettings,
  ring_events: options.ring ?? defaultEventSettings.ring_events,
  heartbeat: Duration.millis(options.heartbeat_ms ?? 15_000),
  limits: null
}

const references = Layer.mergeAll(
  Layer.succeed(References.MinimumLogLevel, "None"),
  Layer.succeed(AccessPolicy, { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }),
  Layer.succeed(KeyLimit, Number.POSITIVE_INFINITY),
  Layer.succeed(RateLimits, null),
  Layer.succeed(EventSettings, events),
  Layer.succeed(SessionPolicy, {
    jwt_lifetime: Duration.millis(options.jwt_ms ?? 900_000),
    window: Duration.hours(12),
    reuse: "observe",
    id_token_replay: "allow"
  }),
  Layer.succeed(ServerIdentity, {
    console_url: "http://console.test",
    origin: { trusted_hops: 0, console_token: null },
    proxy_token: null,
    cli_latest: "0.1.0",
    heartbeat: events.heartbeat
  })
)

const secret = MasterSecret.layerGiven(Redacted.make(masterKey))

const base = JoseTokenSigner.layer({ issuer }).pipe(
  Layer.merge(
    Layer.unwrap(
      Effect.map(
        Effect.flatMap(MasterSecret, (master) => master.pepper(1)),
        KeyDigester.layer
      )
    )
  ),
  Layer.provideMerge(secret),
  Layer.provideMerge(
    Layer.effectDiscard(Effect.flatMap(RegionCatalog, (catalog) => catalog.seed([RegionId.make("local")])))
  ),
  Layer.provideMerge(PostgresStorage.layer),
  Layer.provideMerge(
    Database.layer({ url: Redacted.make(options.url), maxConnections: 6, applicationName: "narthex-api" })
  ),
  Layer.provideMerge(Layer.mergeAll(Believer, layerMemoryComputes))
)

/** Every listening server of this process: the admin listener does not report its port otherwise. */
const listening: Array<number> = []
tracingChannel<unknown, { readonly server: Server }>("net.server.listen").subscribe({
  start: () => {},
  end: () => {},
  asyncStart: () => {},
  asyncEnd: ({ server }) => {
    const address = server.address()
    if (typeof address === "object" && address !== null) listening.push(address.port)
  },
  error: () => {}
})

const say = (answer: object) => void process.stdout.write(`${JSON.stringify(answer)}\n`)

const grace = Duration.seconds(2)

const server = Layer.provide(
  Layer.effect(
    NodeServing,
    Effect.map(HttpServer.HttpServer, ({ address }) => ({ port: "port" in address ? address.port : 0 }))
  ),
  layerApiServer({ host: "127.0.0.1", port: 0, grace })
)

/** The server needs everything that the handler needs. */
type Listener = Layer.Layer<NodeServing, Layer.Error<typeof server>, Layer.Services<typeof server>>

const listener: Listener = options.serving === "node" ? layerNodeServing({ createServer, grace }) : server

const announced = Layer.effectDiscard(
  Effect.map(NodeServing, ({ port }) => say({ port, admin: listening.find((other) => other !== port) ?? 0 }))
)

const admin = options.admin === true ? layerAdmin({ host: "127.0.0.1", port: 0 }) : Layer.empty

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const command: Command = JSON.parse(line)
    if ("stand" in command) clock.stand(command.stand)
    else clock.wake(command.wake)
    say({ obeyed: true })
  })
  .on("close", () => process.exit(2))

NodeRuntime.runMain(
  Layer.launch(
    announced.pipe(
      Layer.provideMerge(admin),
      Layer.provideMerge(listener),
      Layer.provideMerge(layerServices),
      Layer.provideMerge(Draining.layer),
      Layer.provideMerge(base),
      Layer.provide(references),
      Layer.provide(Layer.succeed(Clock.Clock, clock))
    )
  )
)

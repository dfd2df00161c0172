/** The whole API on a free port: over memory here, over any other storage where a layer of it is given. */
import { randomBytes } from "node:crypto"
import { createServer as createHttp1Server } from "node:http"
import {
  AccessPolicy,
  type AccessSettings,
  DiskMeasurementPolicy,
  defaultQuotas,
  defaultRunnerSettings,
  IdentityProvider,
  InvalidIdToken,
  KeyDigester,
  KeyLimit,
  layerMemoryComputes,
  layerMemoryPorts,
  layerRunner,
  layerSecretSealer,
  layerServices,
  type OfferedSize,
  ProviderView,
  QuotaPolicy,
  type QuotaSettings,
  RegionCatalog,
  RegionId,
  RunnerPolicy,
  SizeCatalog,
  TokenSigner
} from "@narthex/core"
import { Clock, Context, DateTime, Duration, Effect, Layer, Redacted, Stream } from "effect"
import { type HttpClient, HttpClientRequest, HttpServer } from "effect/http"
import { long } from "../../../../test/harness/long.ts"
import {
  DirectApi,
  Draining,
  FetchServer,
  handlers,
  type ListenOptions,
  layerApiServer,
  type RateLimitSettings,
  RateLimits,
  ServerIdentity
} from "../../src/index.ts"
import { layerNodeServing, NodeServing } from "./nodeServing.ts"
import { call, TestApi } from "./wire.ts"

/** Accepts `email:<address>:<salt>`, and `unverified:…` as an unverified address. */
const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "test", name: "Test", issuer: "https://issuer.test" })],
  verify: ({ id_token }) => {
    const [kind, email, salt = ""] = Redacted.value(id_token).split(":")
    if ((kind !== "email" && kind !== "unverified") || email === undefined)
      return Effect.fail(new InvalidIdToken({ cause: "unknown token" }))
    return Effect.succeed({
      provider: "test",
      issuer: "https://issuer.test",
      subject: email,
      email,
      email_verified: kind === "email",
      name: null,
      token_digest: `${email} ${salt}`,
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
  }
})

export const proxyToken = "proxy-token-of-the-tests"
export const consoleToken = "console-token-of-the-tests"

/** Moves the server's clock ahead, so that tests need not wait. */
export class Ahead extends Context.Service<Ahead, { readonly by: (duration: Duration.Input) => Effect.Effect<void> }>()(
  "test/Ahead"
) {}

const shiftedClock = ({ held = [], stands = false }: ApiOptions) =>
  Layer.effectContext(
    Effect.map(Clock.Clock, (real) => {
      let shift = 0
      let sleepers: ReadonlyArray<{ readonly until: number; readonly wake: () => void }> = []
      const sleep = (duration: Duration.Duration) =>
        Effect.callback<void>((resume) => {
          const sleeper = { until: now() + Duration.toMillis(duration), wake: () => resume(Effect.void) }
          sleepers = [...sleepers, sleeper]
          return Effect.sync(() => {
            sleepers = sleepers.filter((each) => each !== sleeper)
          })
        })
      const begun = real.currentTimeMillisUnsafe()
      const now = () => (stands ? begun : real.currentTimeMillisUnsafe()) + shift
      const clock: Clock.Clock = {
        currentTimeMillisUnsafe: now,
        currentTimeMillis: Effect.sync(now),
        currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
        currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
        monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: real.monotonicTimeNanos,
        sleep: (duration) =>
          held.some((each) => Duration.Equivalence(duration, each)) ? sleep(duration) : real.sleep(duration)
      }
      return Context.make(Clock.Clock, clock).pipe(
        Context.add(Ahead, {
          by: (duration) =>
            Effect.sync(() => {
              shift += Duration.toMillis(duration)
              const due = sleepers.filter(({ until }) => until <= now())
              sleepers = sleepers.filter(({ until }) => until > now())
              for (const { wake } of due) wake()
            })
        })
      )
    })
  )

const ListensOn = Layer.effect(
  TestApi,
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    if (!("port" in address)) throw new Error("The test server listens on a socket file.")
    return { port: address.port, direct: yield* DirectApi }
  })
)

/** The server, called within its process. */
const CalledDirectly = Layer.effect(
  TestApi,
  Effect.map(TestApi, (api) => ({ ...api, ...(api.direct === undefined ? {} : { fetch: fetchOver(api.direct) }) }))
).pipe(Layer.provide(ListensOn))

/** A client in the form of the Fetch standard. */
const fetchOver = (client: HttpClient.HttpClient) => async (request: Request) => {
  const body = new Uint8Array(await request.arrayBuffer())
  const bare = HttpClientRequest.fromWeb(new Request(request.url, { method: request.method, headers: request.headers }))
  const asked =
    body.length === 0
      ? bare
      : HttpClientRequest.bodyUint8Array(bare, body, request.headers.get("content-type") ?? undefined)
  const answer = await Effect.runPromise(client.execute(asked))
  const { headers, status } = answer
  if (nullBody.has(status)) return new Response(null, { status, headers })
  const streams = headers["content-type"]?.startsWith("text/event-stream")
  const content = streams ? Stream.toReadableStream(answer.stream) : await Effect.runPromise(answer.arrayBuffer)
  return new Response(content, { status, headers })
}

/** Statuses without a body. */
const nullBody = new Set([204, 304])

/**
 * How the API is served: by the server of the package, by its handler for Node on a server of the test, by its function of
 * the Fetch standard, without a socket, or by the server to its own process.
 */
export type Serving = "server" | "node" | "fetch" | "direct"

/** Ways of serving with a socket. */
export const servings = ["server", "node"] as const

export const everyServing: ReadonlyArray<Serving> = [...servings, "fetch"]

/**
 * For suites that depend less on how a request arrives: the server, and another way that the seed chooses. The long form
 * has all. Each file calls the function, because the seed chooses for each.
 */
export const someServings = (): ReadonlyArray<Serving> =>
  long ? everyServing : ["server", Math.random() < 0.5 ? "node" : "fetch"]

export interface ApiOptions {
  /** Default: `server`. */
  readonly serving?: Serving
  readonly access?: Partial<AccessSettings>
  readonly limits?: RateLimitSettings | null
  readonly regions?: ReadonlyArray<string>
  readonly key_limit?: number
  readonly quotas?: QuotaSettings
  readonly sizes?: ReadonlyArray<OfferedSize>
  /** Nothing works on operations. */
  readonly idle?: boolean
  /** The server to listen with, instead of one for HTTP/1.1. */
  readonly createServer?: NonNullable<ListenOptions["createServer"]>
  readonly grace?: Duration.Duration
  /** Whether the clock stands still but for `Ahead`, so that counts by time do not depend on the machine's speed. */
  readonly stands?: boolean
  /** Sleeps of exactly these durations end when `Ahead` says so, and not with the time of the machine. */
  readonly held?: ReadonlyArray<Duration.Duration>
}

const references = ({ access, key_limit = 1000, limits = null, quotas = defaultQuotas, sizes = [] }: ApiOptions) =>
  Layer.mergeAll(
    Layer.succeed(AccessPolicy, {
      open_signup: true,
      sign_in_allowlist: [],
      invitations_bypass_gate: false,
      ...access
    }),
    Layer.succeed(KeyLimit, key_limit),
    Layer.succeed(QuotaPolicy, quotas),
    Layer.succeed(SizeCatalog, sizes),
    // Once, at the start: the memory driver's numbers would replace those that a test records.
    Layer.succeed(DiskMeasurementPolicy, {
      interval: Duration.days(1),
      pause: Duration.days(1),
      deadline: Duration.minutes(1)
    }),
    Layer.succeed(RateLimits, limits),
    Layer.succeed(RunnerPolicy, { ...defaultRunnerSettings, poll: Duration.millis(5) }),
    Layer.succeed(ServerIdentity, {
      console_url: "http://console.test",
      origin: { trusted_hops: 1, console_token: Redacted.make(consoleToken) },
      proxy_token: Redacted.make(proxyToken),
      cli_latest: "0.1.0",
      heartbeat: Duration.seconds(15)
    })
  )

const seeded = (regions: ReadonlyArray<string>) =>
  Layer.effectDiscard(
    Effect.flatMap(RegionCatalog, (catalog) => catalog.seed(regions.map((region) => RegionId.make(region))))
  )

const outside = Layer.mergeAll(
  Believer,
  layerMemoryComputes,
  layerSecretSealer(Redacted.make(new Uint8Array(randomBytes(32)))),
  KeyDigester.layer({ id: "test", key: Redacted.make(new Uint8Array(randomBytes(32))) })
)

/** The ports that a storage provides. */
export type StoragePorts = Layer.Success<typeof layerMemoryPorts>

/** Never closes an idle connection: a request that the client sends at that moment would fail. */
const patient = () => createHttp1Server({ requestTimeout: 60_000, keepAliveTimeout: 3_600_000 })

const listen = ({ createServer = patient, grace = Duration.millis(200) }: ApiOptions): ListenOptions => ({
  host: "127.0.0.1",
  port: 0,
  grace,
  createServer
})

const HandlesNode = ({ createServer = patient, grace }: ListenOptions) =>
  Layer.provideMerge(
    Layer.effect(
      TestApi,
      Effect.map(NodeServing, ({ port }) => ({ port }))
    ),
    layerNodeServing({ createServer, grace })
  )

const AnswersFetch = (options: ListenOptions) =>
  Layer.effect(
    TestApi,
    Effect.map(FetchServer, ({ answer }) => ({
      port: 0,
      fetch: handlers(answer, { basePath: "", clientAddress: () => "127.0.0.1" }).fetch
    }))
  ).pipe(Layer.provideMerge(FetchServer.layer(options.grace)))

const server = (options: ListenOptions) => Layer.provide(ListensOn, layerApiServer(options))

const direct = (options: ListenOptions) => Layer.provide(CalledDirectly, layerApiServer(options))

/** The server needs everything that the others need. */
type Served = Layer.Layer<TestApi, Layer.Error<ReturnType<typeof server>>, Layer.Services<ReturnType<typeof server>>>

const servingOf = (options: ApiOptions): Served => {
  if (options.serving === "node") return HandlesNode(listen(options))
  if (options.serving === "fetch") return AnswersFetch(listen(options))
  return options.serving === "direct" ? direct(listen(options)) : server(listen(options))
}

export const apiOver = <E, R>(storage: Layer.Layer<StoragePorts, E, R>, options: ApiOptions = {}) =>
  servingOf(options).pipe(
    Layer.provideMerge(Layer.merge(options.idle ? Layer.empty : layerRunner, seeded(options.regions ?? ["local"]))),
    Layer.provideMerge(layerServices),
    Layer.provideMerge(Draining.layer),
    Layer.provideMerge(TokenSigner.layerMemory),
    Layer.provideMerge(storage),
    Layer.provideMerge(outside),
    Layer.provideMerge(references(options)),
    Layer.provideMerge(shiftedClock(options))
  )

export const memoryApi = (options: ApiOptions = {}) => apiOver(layerMemoryPorts, options)

/** A new id token that the test provider accepts. */
export const idToken = (email: string) => `email:${email}:${randomBytes(8).toString("hex")}`

/** Signs a person in and returns the session token. */
export const signIn = (email: string) =>
  Effect.map(
    call("POST", "/v1/auth/exchange", { body: { id_token: idToken(email) } }),
    (answer): string => answer.body.access_token
  )

/**
 * The client with promises, for browsers, workers and Node (docs/design/client.md). It is the Effect form, called with
 * one flat object and answered with JSON.
 *
 * @example
 * import { createClient } from "@narthex/api"
 * const client = createClient({ baseUrl: "https://api.narthex.example", credential: "nsk_…" })
 * const { project } = await client.projects.create({ name: "shop" })
 */
import { Cause, Clock, Context, Duration, Effect, Exit, Layer, Redacted, Schema, Scope, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { clientFailure, type NarthexError } from "../../problems/NarthexError.ts"
import { place, placing, siteOf } from "../../problems/placing.ts"
import { SessionAnswer } from "../../schemas/SessionAnswer.ts"
import { OperationRecord } from "../../schemas/Shapes.ts"
import { ClientCredential, ClientHeaders } from "../ClientCredential.ts"
import type { ClientSession } from "../ClientSession.ts"
import { type Attempt, LastAttempt, noAttempt } from "../LastAttempt.ts"
import type { ClientSettings } from "../makeClient.ts"
import { NarthexClient } from "../NarthexClient.ts"
import { type Page, pages } from "../pages.ts"
import type { RetrySettings } from "../retries.ts"
import type * as Answers from "./answers.ts"
import { type ClientEndpoint, clientEndpoints } from "./endpoints.ts"
import { type Following, iterated, type OperationClient, subscriptionOf } from "./following.ts"
import { problemOfAwaited, problemOfCall, problemOfClient, problemOfFollow, problemOfWait } from "./givenOptions.ts"
import { invalidInput } from "./invalidInput.ts"
import type { CallOptions } from "./Method.ts"
import type { Client } from "./PromiseClient.ts"
import { toNarthexError } from "./toNarthexError.ts"

/** A session as `auth.exchange` answers it. */
export type SessionJson = Answers.SessionAnswer

export interface ClientOptions {
  /** Where the API is, without `/v1`. */
  readonly baseUrl: string
  /** An API key, or a session, whose token is refreshed when it expires. Left out: for calls without a credential. */
  readonly credential?: string | Pick<SessionJson, "access_token">
  /** Stores the session after a refresh and a switch of organization. Calls wait until it is stored. */
  readonly onRefresh?: (session: SessionJson) => void | Promise<void>
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** `false`: each call is one request without a bound. */
  readonly retries?: RetrySettings | false
  /** How requests are sent: `fetch` of the platform, or that of a control plane in this process. */
  readonly fetch?: (request: Request) => Promise<Response>
}

const encodeSession = Schema.encodeUnknownEffect(SessionAnswer)
const encodeOperation = Schema.encodeUnknownEffect(OperationRecord)

const sessionOf = (access_token: string, onRefresh: ClientOptions["onRefresh"]): ClientSession => ({
  access_token: Redacted.make(access_token),
  ...(onRefresh === undefined
    ? {}
    : {
        onRefresh: (session) =>
          Effect.flatMap(Effect.orDie(encodeSession(session)), (json) =>
            Effect.tryPromise({
              try: async () => onRefresh(json),
              catch: (cause) => clientFailure("session_not_stored", { cause })
            })
          ).pipe(Effect.orDie)
      })
})

const settingsOf = ({ baseUrl, credential, headers, onRefresh, retries }: ClientOptions): ClientSettings => ({
  baseUrl,
  ...(headers === undefined ? {} : { headers }),
  ...(retries === undefined ? {} : { retries }),
  ...(credential === undefined
    ? {}
    : {
        credential:
          typeof credential === "string" ? Redacted.make(credential) : sessionOf(credential.access_token, onRefresh)
      })
})

/** Effect's client calls `fetch` with an address and options; others take a `Request`. */
const fetching = (options: ClientOptions): Context.Context<never> => {
  const { fetch } = options
  return fetch === undefined
    ? Context.empty()
    : Context.make(FetchHttpClient.Fetch, (input, init) => fetch(new Request(input, init)))
}

/** The values that are sent in headers, by the names that the caller knows. */
const headersOf = ({ credential, headers }: ClientOptions, own: CallOptions) => ({
  credential: own.credential ?? (typeof credential === "object" ? credential.access_token : credential),
  idempotencyKey: own.idempotencyKey,
  ...headers,
  ...own.headers
})

/**
 * The header whose text no request can carry (RFC 9110 §5.5; `fetch` takes no characters beyond U+00FF). `fetch` would
 * refuse to send, which looks like a server that cannot be reached.
 */
const unsendable = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  Object.entries(headers).find(([, text]) => text !== undefined && !/^[\t\x20-\x7e\x80-\xff]*$/.test(text))?.[0]

const secretMembers = ["secret", "password", "connection_uri"]

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** A replay shows no secret (docs/design/api.md). The first answer had it, and it was lost. */
const checkSecrets = (endpoint: ClientEndpoint, json: unknown) =>
  endpoint.showsSecret && isRecord(json) && secretMembers.some((name) => json[name] === null)
    ? Effect.fail(clientFailure("secret_lost", { body: json }))
    : Effect.succeed(json)

type AnyCall = (request: object) => Effect.Effect<readonly [unknown, unknown], unknown>

/** The pages of a list as an async iterable. Each loop over it reads the list again. */
const pagesOf = (
  name: string,
  call: (input: Readonly<Record<string, unknown>>, own?: CallOptions) => Promise<unknown>
) => {
  const allPages = (input: Readonly<Record<string, unknown>> = {}, own?: CallOptions): AsyncIterable<unknown> => {
    const site = siteOf(allPages)
    return pages((cursor) =>
      Effect.tryPromise({
        // The contract has the member in every list.
        try: () => call(cursor === undefined ? input : { ...input, cursor }, own) as Promise<Page>,
        // Calls reject with a `NarthexError` only.
        catch: (error) => error as NarthexError
      })
    ).pipe(
      Stream.catchTag("PageRepeated", ({ message }) =>
        Stream.fail(clientFailure("unreadable_answer", { about: message }))
      ),
      Stream.mapError((error) => place(error, name, site)),
      Stream.toAsyncIterable
    )
  }
  return allPages
}

/** Throws unless there is no problem. */
const refuse = (problem: NarthexError | undefined) => {
  if (problem !== undefined) throw problem
}

export const createClient = (options: ClientOptions): Client => {
  const problem = problemOfClient(options)
  if (problem !== undefined) throw place(problem, "createClient", siteOf(createClient))
  const context = fetching(options)
  let made: NarthexClient["Service"] | undefined
  /** Made with the first call: a client that only exists costs nothing. */
  const narthex = () => {
    made ??= Context.get(
      Effect.runSync(Layer.buildWithScope(NarthexClient.layerFetch(settingsOf(options)), Scope.makeUnsafe())),
      NarthexClient
    )
    return made
  }

  const failing = <A, R>(attempt: Attempt, effect: Effect.Effect<A, unknown, R>): Effect.Effect<A, NarthexError, R> =>
    Effect.catch(effect, (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.flatMap(toNarthexError(error, attempt, now), Effect.fail))
    )

  const run = async <A>(effect: Effect.Effect<A, NarthexError>, signal: AbortSignal | undefined): Promise<A> => {
    const exit = await Effect.runPromiseExit(
      Effect.provideContext(effect, context),
      signal === undefined ? undefined : { signal }
    )
    if (Exit.isSuccess(exit)) return exit.value
    if (Cause.hasInterruptsOnly(exit.cause)) throw clientFailure("aborted", { cause: signal?.reason })
    throw Cause.squash(exit.cause)
  }

  const method = (endpoint: ClientEndpoint) => {
    const call = async (input: Readonly<Record<string, unknown>> = {}, own: CallOptions = {}): Promise<unknown> => {
      refuse(problemOfCall(own))
      const attempt = noAttempt()
      const answered = Effect.gen(function* () {
        const wrong = unsendable(headersOf(options, own))
        if (wrong !== undefined)
          return yield* Effect.fail(invalidInput(`${wrong}: expected text that a header can have, such as ASCII.`))
        const parts = yield* Effect.catchDefect(endpoint.request(input), () =>
          Effect.fail(invalidInput("Reading a member failed. Pass plain values."))
        )
        // Calls are looked up by the names of the contract, so their types are not known one by one.
        const calls = narthex().api as unknown as Readonly<Record<string, Readonly<Record<string, AnyCall>>>>
        const send = calls[endpoint.group]?.[endpoint.name]
        if (send === undefined) return yield* Effect.die(new Error(`${endpoint.group}.${endpoint.name} has no call.`))
        const [value] = yield* send({ ...parts, responseMode: "decoded-and-response" })
        if (endpoint.streams) return Stream.toReadableStream(value as Stream.Stream<Uint8Array, unknown>)
        return yield* Effect.flatMap(endpoint.json(value), (json) => checkSecrets(endpoint, json))
      })
      const sent = answered.pipe(
        Effect.provideService(LastAttempt, attempt),
        Effect.provideService(ClientHeaders, {
          ...own.headers,
          ...(own.idempotencyKey === undefined ? {} : { "idempotency-key": own.idempotencyKey })
        }),
        Effect.provideService(
          ClientCredential,
          own.credential === undefined ? undefined : Redacted.make(own.credential)
        )
      )
      return run(failing(attempt, sent), own.signal)
    }
    const { codes, group, lists } = endpoint
    const name = `${group}.${endpoint.name}`
    return Object.assign(placing(name, call), lists ? { codes, pages: pagesOf(name, call) } : { codes })
  }

  const subscribe: Following["subscribe"] = (follow = {}) => {
    const site = siteOf(subscribe)
    const wrong = problemOfFollow(follow)
    if (wrong !== undefined) return iterated(Stream.fail(place(wrong, "events.subscribe", site)), {})
    return iterated(
      Stream.suspend(() => narthex().subscribe(subscriptionOf(follow))).pipe(
        Stream.catch((refusal) => Stream.fromEffect(failing(noAttempt(), Effect.fail(refusal)))),
        Stream.mapError((error) => place(error, "events.subscribe", site)),
        Stream.provideContext(context)
      ),
      follow
    )
  }

  const waitFor: OperationClient["waitFor"] = placing("operations.waitFor", async (operation, options = {}) => {
    refuse(problemOfAwaited(operation) ?? problemOfWait(options))
    const { signal, timeout } = options
    const attempt = noAttempt()
    const waited = Effect.flatMap(
      Effect.suspend(() =>
        narthex().waitFor(operation, timeout === undefined ? {} : { timeout: Duration.millis(timeout) })
      ),
      encodeOperation
    ).pipe(
      Effect.provideService(LastAttempt, attempt),
      Effect.catchTag("OperationPending", (pending) =>
        Effect.fail(clientFailure("timed_out", { about: pending.message, cause: pending }))
      )
    )
    return run(failing(attempt, waited), signal)
  })

  const groups: Record<string, Record<string, unknown>> = { events: { subscribe }, operations: { waitFor } }
  for (const endpoint of clientEndpoints()) {
    const members = groups[endpoint.group] ?? {}
    members[endpoint.name] = method(endpoint)
    groups[endpoint.group] = members
  }
  // The names are those of the contract, from which the type is derived too.
  return groups as unknown as Client
}

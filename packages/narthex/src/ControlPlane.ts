/** A control plane as its host holds it, and how it is made (docs/design/library.md). */
import { FetchServer, handlers, type NodeHandler, readBasePath } from "@narthex/http/web"
import { Cause, Context, Duration, Effect, Exit, Layer, ManagedRuntime, References } from "effect"
import { layerControlPlane, layerCore, layerWork, type Services } from "./composition/layerControlPlane.ts"
import { layerLog } from "./composition/logging.ts"
import { closedFailure, invalidOptions, toStartFailure } from "./failures/failures.ts"
import { aFunction, optional } from "./failures/forms.ts"
import { placing } from "./failures/placing.ts"
import { type Authenticate, makeAuthenticate } from "./host/Caller.ts"
import { aNodeRequest, aNodeResponse, aRequest } from "./host/clientForms.ts"
import { type MakeClient, makeClients } from "./host/clients.ts"
import { type Events, makeEvents } from "./host/follow.ts"
import { requireForm } from "./host/inputs.ts"
import { makePeople, makeSessions, type People, type Sessions } from "./host/people.ts"
import { type IpAllowlist, makeIpAllowlist, makeOperations, type Operations } from "./host/projects.ts"
import { makePublishing, type Publishing } from "./host/publish.ts"
import { makeRun, type Run } from "./host/Run.ts"
import { type InTransaction, makeTransaction } from "./host/transaction.ts"
import { layerDraining, layerHttp } from "./layerHttp.ts"
import type { ControlPlaneOptions, CoreOptions } from "./options/ControlPlaneOptions.ts"
import { checkOptions } from "./options/checkOptions.ts"

/**
 * A control plane in this process: the API as functions (`fetch`, `node`, `client`), and the host's own calls, which skip
 * authorization. `createControlPlane` makes one.
 */
export interface ControlPlane extends AsyncDisposable {
  /**
   * The whole HTTP API, event streams included, as a function of the Fetch standard. Aborting the request's signal ends
   * the call and the body of its answer. A request never rejects; any other argument rejects with `invalid_input`.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * The same as a handler for `node:http`, Express, and Fastify's hook `onRequest`. With `next`, as Express passes it,
   * paths that are not the API's are passed on: at the root, everything that is not below `/v1/` or `/.well-known/`, so
   * that `/livez`, `/readyz`, `/docs` and `/openapi.json` are the host's. Below a mount point or `basePath` they are the
   * API's. Throws `invalid_input` for arguments that are no request and response of Node.
   */
  readonly node: NodeHandler
  /**
   * The typed client of the API in this process, under the same authorization as over HTTP: on behalf of a session or an
   * API key. Its twin for another process is `createClient({ baseUrl, credential })`. Throws `invalid_input` for a wrong
   * credential or wrong options.
   */
  readonly client: MakeClient
  // The host's own calls. They skip authorization, because the host is the authority; nothing else does.
  /** People whom the host has authenticated: `ensure` makes their accounts. */
  readonly people: People
  /** Sessions of the API: begun for people of `people` or with an id token, and ended. */
  readonly sessions: Sessions
  /** Finds the caller by a credential of the API. The caller's `require` checks the rights of the credential. */
  readonly authenticate: Authenticate
  /** Whether the rules of a project admit an address. */
  readonly ipAllowlist: IpAllowlist
  /** Follows the events of an organization or a project, and publishes events of the host. */
  readonly events: Events & Publishing
  /** Waits for work that takes time. */
  readonly operations: Operations
  /** Runs calls inside a database transaction of the host. */
  readonly transaction: InTransaction
  /**
   * Ends the control plane in order: new requests are refused, streams are told to reconnect, calls in flight finish,
   * operations are given back, connections are closed. Every call returns the same promise.
   */
  readonly close: () => Promise<void>
}

/**
 * The same for programs with Effect: the services, the API as routes, and the end of its streams.
 *
 * @example
 * import { Projects } from "@narthex/core"
 * import { Effect, ManagedRuntime } from "effect"
 * import { ControlPlane } from "narthex"
 * const runtime = ManagedRuntime.make(ControlPlane.layer())
 * const { create } = await runtime.runPromise(Effect.service(Projects))
 */
export const ControlPlane = {
  /** Every service of the core, and the background work. */
  layer: (options: CoreOptions = {}) => layerControlPlane(options),
  /** The API as routes of the host's own router, over the services of `layer`. */
  layerHttp,
  /** Ends the event streams before the host's listener waits for their connections: built on top of the listener. */
  layerDraining
}

/** A host without Effect has no tracer, so nothing would read the spans. */
const untraced = Layer.succeed(References.TracerEnabled, false)

/** A control plane, and what runs effects of the core on it. */
export interface Started {
  readonly plane: ControlPlane
  readonly run: Run
}

/** As `createControlPlane`, for modules that build on the core: `narthex/testing`. */
export const startControlPlane = async (options: ControlPlaneOptions): Promise<Started> => {
  checkOptions(options)
  const basePath = readBasePath(options.basePath ?? "")
  if (basePath === undefined)
    throw invalidOptions(`basePath: expected a path such as "/control", not ${JSON.stringify(options.basePath)}.`)
  const grace = Duration.millis(options.grace ?? 10_000)
  const runtime = ManagedRuntime.make(
    layerWork(options).pipe(
      Layer.provideMerge(FetchServer.layer(grace)),
      Layer.provideMerge(layerCore(options)),
      Layer.provideMerge(Layer.merge(layerLog(options), untraced))
    )
  )
  const built = await runtime.runPromiseExit(Effect.context<Services | FetchServer>())
  if (Exit.isFailure(built)) {
    await runtime.dispose()
    throw toStartFailure(Cause.squash(built.cause))
  }
  const context = built.value
  const closed = new AbortController()
  const run = makeRun(context, closed.signal)
  const { answer } = Context.get(context, FetchServer)
  const { clientAddress, hostSession } = options
  const { fetch: answered, node: served } = handlers(answer, { basePath, clientAddress, hostSession })
  /** A client of this process has the credential that it was made with, or none. */
  const { fetch: called } = handlers(answer, { basePath, clientAddress })
  const within = (transaction: Context.Context<never>) =>
    handlers((request, incoming) => answer(request, incoming, transaction), { basePath }).fetch

  let closing: Promise<void> | undefined
  const close = () => {
    closed.abort()
    closing ??= runtime.dispose()
    return closing
  }

  const fetch = placing("fetch", async (request: Request) => {
    requireForm("request", request, aRequest)
    return answered(request)
  })
  const node: NodeHandler = (request, response, next) => {
    requireForm("request", request, aNodeRequest)
    requireForm("response", response, aNodeResponse)
    requireForm("next", next, optional(aFunction))
    served(request, response, next)
  }
  /** For clients of this process: after the end they would repeat calls that nothing will answer. */
  const inProcess = (request: Request) => (closed.signal.aborted ? Promise.reject(closedFailure()) : called(request))

  const plane: ControlPlane = {
    fetch,
    node,
    client: makeClients(inProcess, basePath),
    people: makePeople(run),
    sessions: makeSessions(run),
    authenticate: makeAuthenticate(run),
    ipAllowlist: makeIpAllowlist(run),
    events: { ...makeEvents(context, closed.signal), ...makePublishing(run) },
    operations: makeOperations(run),
    transaction: makeTransaction(run, closed.signal, within, basePath),
    close,
    [Symbol.asyncDispose]: close
  }
  return { plane, run }
}

/**
 * Makes a control plane; in memory unless the options say otherwise. Rejects with the codes `invalid_options` and
 * `unavailable`.
 *
 * @example
 * import { createControlPlane } from "narthex"
 * await using cp = await createControlPlane()
 * const ada = await cp.people.ensure({ subject: "user_42", email: "ada@example.com", email_verified: true })
 * const client = cp.client(await cp.sessions.start(ada))
 * const { project } = await client.projects.create({ name: "shop" })
 */
export const createControlPlane: (options?: ControlPlaneOptions) => Promise<ControlPlane> = placing(
  "createControlPlane",
  async (options = {}) => (await startControlPlane(options)).plane
)

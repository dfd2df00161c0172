/**
 * A server with local computes and a proxy, each in a process of its own, on a store that outlives both: the server can be
 * killed while sessions go on. The proxy refreshes nothing by itself within a test, so what it learns it is notified of.
 */
import { Context, Effect, Layer, Scope } from "effect"
import { eventually } from "../../harness/eventually.ts"
import { eventuallyOpen, type Session } from "../../hostile/support/Session.ts"
import { endProcessesIn } from "../../support/processesIn.ts"
import { emptyDirectory, ownAccount } from "../../support/surroundings.ts"
import { type Answer, ask, signIn } from "./ask.ts"
import { Program } from "./Program.ts"
import { Serving } from "./Serving.ts"

/** A project with its endpoint, and a role of its branch. */
export interface Place {
  readonly path: string
  readonly branch: string
  readonly endpoint: string
  readonly role: string
  readonly password: string
}

const directory = Effect.acquireRelease(
  Effect.sync(() => emptyDirectory(ownAccount)),
  (it) => Effect.promise(() => endProcessesIn(it.path).finally(it.remove)) // computes outlive their runner
)

export class Computes extends Context.Service<
  Computes,
  {
    readonly call: (method: string, path: string, body?: unknown) => Effect.Effect<Answer>
    readonly place: Effect.Effect<Place>
    /** A session through the proxy, which wakes the endpoint: that of the place, unless another one is named. */
    readonly session: (place: Place, endpoint?: string) => Effect.Effect<Session>
    readonly stateOf: (place: Place) => Effect.Effect<string>
    /** Kills the server, and returns once nothing answers at its address. */
    readonly kill: Effect.Effect<void>
    /** Starts it again at the same address, on the same computes. */
    readonly restart: Effect.Effect<void>
  }
>()("@narthex/test/serving/Computes") {
  static readonly layer = Layer.effect(
    Computes,
    Effect.gen(function* () {
      const { environment, issuer } = yield* Serving
      const data = yield* directory
      const scope = yield* Effect.scope
      const settings = {
        ...environment,
        NARTHEX_COMPUTE: "local",
        NARTHEX_COMPUTE_SHARED_ACCOUNT: "accept",
        NARTHEX_DATA_DIR: data.path,
        NARTHEX_COMPUTE_STANDBY: "40 seconds" // the kernel may not have ended the process that was killed
      }
      const started = (port: string) =>
        Effect.provideService(
          Program.start("server", ["--roles", "api,runner"], { ...settings, NARTHEX_API_PORT: port }),
          Scope.Scope,
          scope
        )
      let server = yield* started("0")
      const url = server.address("api")
      const proxy = yield* Program.start("proxy", [], {
        ...environment,
        NARTHEX_API_URL: url,
        NARTHEX_ALLOWLIST_REFRESH: "1 hour"
      })
      const { token } = yield* signIn(url, issuer.idToken("ada@example.com"))
      const call = (method: string, path: string, body?: unknown) => ask(url, method, path, token, body)

      const place = Effect.gen(function* () {
        const { body } = yield* call("POST", "/v1/projects", { name: "place" })
        const [path, branch] = [`/v1/projects/${body.project.id}`, String(body.branch.id)]
        // Refused with 423 or 503 while the branch is being made.
        let minted: Answer = { status: 0, body: undefined }
        yield* eventually(
          "a credential",
          Effect.map(call("POST", `${path}/branches/${branch}/credentials`, { access: "read_write" }), (answer) => {
            minted = answer
            return answer.status === 201
          }),
          { every: 200 }
        )
        const { credential, password } = minted.body
        const endpoint = String(body.endpoint.id)
        return { path, branch, endpoint, role: String(credential.role), password: String(password) }
      })

      return {
        call,
        place,
        session: ({ endpoint: own, password, role }, endpoint = own) =>
          Effect.promise(() =>
            eventuallyOpen(
              `postgresql://${role}:${password}@${proxy.address("proxy")}/postgres?options=endpoint%3D${endpoint}`,
              "127.0.0.1"
            )
          ),
        stateOf: ({ endpoint, path }) =>
          Effect.map(call("GET", `${path}/endpoints/${endpoint}`), ({ body }) => String(body.endpoint.current_state)),
        kill: Effect.andThen(
          Effect.sync(() => server.kill()),
          eventually(
            "the server to be gone",
            Effect.promise(() =>
              fetch(`${url}/livez`).then(
                () => false,
                () => true
              )
            )
          )
        ),
        restart: Effect.gen(function* () {
          server = yield* started(new URL(url).port)
        })
      }
    })
  ).pipe(Layer.provideMerge(Serving.layer))
}

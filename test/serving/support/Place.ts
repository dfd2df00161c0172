/** A region: a server with local computes and a proxy, in processes of their own, on a store that regions share. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { Effect, Scope } from "effect"
import { eventually } from "../../harness/eventually.ts"
import { eventuallyOpen } from "../../hostile/support/Session.ts"
import { endProcessesIn } from "../../support/processesIn.ts"
import { emptyDirectory, ownAccount } from "../../support/surroundings.ts"
import { ask } from "./ask.ts"
import { type Environment, Program } from "./Program.ts"
import { Serving } from "./Serving.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => emptyDirectory(ownAccount)),
  (it) => Effect.promise(() => endProcessesIn(it.path).finally(it.remove)) // computes outlive their runner
)

/** A project of a region, and a role of its branch. */
export interface Tenant {
  readonly path: string
  readonly branch: string
  readonly endpoint: string
  readonly role: string
  readonly password: string
}

export class Place {
  readonly id: string
  readonly url: string
  readonly #data: string
  readonly settings: Environment
  readonly #scope: Scope.Scope
  readonly #proxy: Program
  #server: Program

  private constructor(
    id: string,
    data: string,
    settings: Environment,
    scope: Scope.Scope,
    server: Program,
    proxy: Program
  ) {
    this.id = id
    this.url = server.address("api")
    this.#data = data
    this.settings = settings
    this.#scope = scope
    this.#server = server
    this.#proxy = proxy
  }

  static readonly make = Effect.fnUntraced(function* (id: string) {
    const { environment } = yield* Serving
    const data = yield* directory
    const scope = yield* Effect.scope
    const shared = { ...environment, NARTHEX_REGION: id, NARTHEX_PROXY_DOMAIN: "db.test" }
    const settings = {
      ...shared,
      NARTHEX_REGIONS: "eu,us",
      NARTHEX_COMPUTE: "local",
      NARTHEX_COMPUTE_SHARED_ACCOUNT: "accept",
      NARTHEX_DATA_DIR: data.path,
      NARTHEX_COMPUTE_STANDBY: "40 seconds" // the kernel may not have ended the process that was killed
    }
    const server = yield* Program.start("server", ["--roles", "api,runner"], settings)
    const proxy = yield* Program.start("proxy", [], { ...shared, NARTHEX_API_URL: server.address("api") })
    return new Place(id, data.path, settings, scope, server, proxy)
  })

  /** Makes the server stand still, or kills it. */
  end(how: "killed" | "stopped"): Effect.Effect<void> {
    if (how === "stopped") return Effect.sync(() => this.#server.signal("SIGSTOP"))
    const gone = Effect.promise(() =>
      fetch(`${this.url}/livez`).then(
        () => false,
        () => true
      )
    )
    return Effect.andThen(
      Effect.sync(() => this.#server.kill()),
      eventually(`the server of ${this.id} to be gone`, gone)
    )
  }

  /** Lets the server go on, or starts it again at the same address. */
  goOn(after: "killed" | "stopped"): Effect.Effect<void> {
    if (after === "stopped") return Effect.sync(() => this.#server.signal("SIGCONT"))
    const settings = { ...this.settings, NARTHEX_API_PORT: new URL(this.url).port }
    return Program.start("server", ["--roles", "api,runner"], settings).pipe(
      Effect.provideService(Scope.Scope, this.#scope),
      Effect.flatMap((server) =>
        Effect.sync(() => {
          this.#server = server
        })
      )
    )
  }

  /** Makes a project in the region, by a call of the API at `url`, and a credential once its branch is ready. */
  tenant(url: string, token: string): Effect.Effect<Tenant> {
    return Effect.gen({ self: this }, function* () {
      const { body } = yield* ask(url, "POST", "/v1/projects", token, { name: `in ${this.id}`, region: this.id })
      const [path, branch] = [`/v1/projects/${body.project.id}`, String(body.branch.id)]
      let minted = { credential: { role: "" }, password: "" }
      yield* eventually(
        "a credential",
        Effect.map(
          ask(url, "POST", `${path}/branches/${branch}/credentials`, token, { access: "read_write" }),
          (it) => {
            minted = it.body
            return it.status === 201 // 423 or 503 while the branch is being made
          }
        ),
        { every: 200 }
      )
      const { credential, password } = minted
      return { path, branch, endpoint: String(body.endpoint.id), role: credential.role, password }
    })
  }

  /** The connection string of a tenant, who may be another region's, at the proxy of this one. */
  uri({ endpoint, password, role }: Tenant): string {
    return `postgresql://${role}:${password}@${this.#proxy.address("proxy")}/postgres?options=endpoint%3D${endpoint}`
  }

  /** Runs statements in a session through the proxy, which wakes the endpoint. Returns the rows of the last. */
  run(tenant: Tenant, ...statements: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Record<string, unknown>>> {
    return Effect.promise(async () => {
      const session = await eventuallyOpen(this.uri(tenant), "127.0.0.1")
      try {
        let rows: ReadonlyArray<Record<string, unknown>> = []
        for (const statement of statements) rows = await session.query(statement)
        return rows
      } finally {
        session.close()
      }
    })
  }

  /** The branches whose data are in the directory of the region. */
  get branches(): ReadonlyArray<string> {
    const all = join(this.#data, "computes", "branches")
    return readdirSync(all).filter((name) => existsSync(join(all, name, "data")))
  }
}

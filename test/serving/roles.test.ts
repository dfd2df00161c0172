/** Instances with different roles on one Postgres: each does its own part, and together they are the platform. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { eventually } from "../harness/eventually.ts"
import { ask, signIn } from "./support/ask.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

const portOf = (address: string) => Number(new URL(address).port)

/** An instance without the role `runner`, on a machine without Postgres programs; and a project that was made there. */
class Api extends Context.Service<
  Api,
  {
    readonly program: Program
    readonly url: string
    readonly token: string
    readonly project: string
    readonly endpoint: string
  }
>()("@narthex/test/serving/Api") {
  static readonly layer = Layer.effect(
    Api,
    Effect.gen(function* () {
      const { environment, issuer } = yield* Serving
      const without = {
        NARTHEX_COMPUTE: "local",
        NARTHEX_COMPUTE_SHARED_ACCOUNT: "accept",
        NARTHEX_POSTGRES_BIN: "/nonexistent",
        NARTHEX_DATA_DIR: "/nonexistent"
      }
      const program = yield* Program.start("server", ["--roles", "api"], { ...environment, ...without })
      const url = program.address("api")
      const { token } = yield* signIn(url, issuer.idToken("ada@example.com"))
      const { body } = yield* ask(url, "POST", "/v1/projects", token, { name: "first" })
      return { program, url, token, project: String(body.project.id), endpoint: String(body.endpoint.id) }
    })
  ).pipe(Layer.provideMerge(Serving.layer))
}

/** The other roles, started once there is work. */
class Others extends Context.Service<Others, { readonly program: Program }>()("@narthex/test/serving/Others") {
  static readonly layer = Layer.effect(
    Others,
    Effect.gen(function* () {
      const { url } = yield* Api
      const { environment } = yield* Serving
      const settings = { ...environment, NARTHEX_API_URL: url }
      return { program: yield* Program.start("server", ["--roles", "runner,console"], settings) }
    })
  )
}

const operations = Effect.gen(function* () {
  const { project, token, url } = yield* Api
  const { body } = yield* ask(url, "GET", `/v1/projects/${project}/operations`, token)
  return body.operations as ReadonlyArray<{ readonly action: string; readonly status: string }> // the contract's form
})

layer(Api.layer, { excludeTestServices: true })("an instance with the role api alone", (it) => {
  it.effect("an instance with the role api needs no Postgres programs, and announces and opens only what it runs", () =>
    Effect.gen(function* () {
      const { program } = yield* Api
      assert.sameMembers(Object.keys(program.ready), [
        "ready",
        "pid",
        "mode",
        "mode_because",
        "api",
        "admin",
        "providers"
      ])
      assert.sameMembers([...program.listensOn], [program.address("api"), program.address("admin")].map(portOf))
    })
  )

  it.effect("an instance without the role runner records operations and leaves them to a runner", () =>
    Effect.gen(function* () {
      assert.sameMembers(
        (yield* operations).map(({ status }) => status),
        ["scheduling"]
      )
    })
  )

  it.effect("an unknown role is refused", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { code, stderr, stdout } = yield* run("server", ["--roles", "api,proxy"], environment)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.strictEqual(stderr, 'error: --roles: "proxy" is not a role. Roles are api, runner, console.\n')
    })
  )

  it.layer(Others.layer)("and one with the roles runner and console", (it) => {
    it.effect("the instance with the roles runner and console announces and opens only what it runs", () =>
      Effect.gen(function* () {
        const { program } = yield* Others
        assert.sameMembers(Object.keys(program.ready), [
          "ready",
          "pid",
          "mode",
          "mode_because",
          "console",
          "admin",
          "providers"
        ])
        assert.sameMembers([...program.listensOn], [program.address("console"), program.address("admin")].map(portOf))
      })
    )

    it.effect("the console's process logs no secret: neither its tokens nor what a browser presents", () =>
      Effect.gen(function* () {
        const { program } = yield* Others
        const { environment } = yield* Serving
        const cookie = "a-cookie-that-no-console-made"
        const code = "a-code-of-no-provider"
        const from = program.address("console")
        const asked = (path: string) =>
          Effect.promise(() =>
            fetch(`${from}${path}`, { headers: { cookie: `narthex=${cookie}` }, redirect: "manual" })
          )
        for (const path of ["/", "/account", `/sign-in/callback?code=${code}&state=${code}`])
          assert.isBelow((yield* asked(path)).status, 500, path)
        const secrets = {
          cookie,
          code,
          console: environment.NARTHEX_CONSOLE_TOKEN,
          key: environment.NARTHEX_MASTER_SECRET
        }
        for (const [name, secret] of Object.entries(secrets)) assert.notInclude(program.log, secret, name)
        assert.isNotEmpty(program.log, "it logs")
      })
    )

    it.effect("the runner performs the operations that the API's instance has recorded", () =>
      eventually(
        "the project's operations to finish",
        Effect.map(operations, (all) => all.every(({ status }) => status === "finished"))
      )
    )

    it.effect("the API wakes an endpoint through the runner, and counts a compute on another instance as running", () =>
      Effect.gen(function* () {
        const { endpoint, url } = yield* Api
        const { environment } = yield* Serving
        const wake = ask(url, "POST", `/v1/proxy/endpoints/${endpoint}/wake`, environment.NARTHEX_PROXY_TOKEN, {
          client_address: "198.51.100.7"
        })
        const first = yield* wake
        assert.deepStrictEqual([first.status, first.body.generation], [200, 1])
        assert.deepStrictEqual(yield* wake, first)
        // A proxy could not connect: the runner verifies, and the compute runs.
        const doubted = ask(url, "POST", `/v1/proxy/endpoints/${endpoint}/wake`, environment.NARTHEX_PROXY_TOKEN, {
          client_address: "198.51.100.7",
          unreachable: 1
        })
        assert.deepStrictEqual(yield* doubted, first)
        assert.lengthOf(
          (yield* operations).filter(({ action }) => action === "start_compute"),
          1
        )
      })
    )

    it.effect("the console offers the providers of its settings, and calls the API of the other instance", () =>
      Effect.gen(function* () {
        const { program } = yield* Others
        const page = yield* Effect.promise(() => fetch(`${program.address("console")}/sign-in`))
        assert.strictEqual(page.status, 200)
        assert.include(yield* Effect.promise(() => page.text()), "Test")
      })
    )

    it.effect("SIGTERM ends the runner with 0, and the API continues", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* Effect.flatMap(Others, ({ program }) => Effect.promise(() => program.stop())), 0)
        assert.strictEqual((yield* ask((yield* Api).url, "GET", "/readyz")).status, 200)
      })
    )

    it.effect(
      "SIGTERM ends the API with 0, and a call that still waits when the grace is over is answered with 503",
      () =>
        Effect.gen(function* () {
          const { endpoint, program, project, token, url } = yield* Api
          const { environment } = yield* Serving
          const proxied = (path: string, body: unknown) => ask(url, "POST", path, environment.NARTHEX_PROXY_TOKEN, body)
          // No runner is left: a wake of the suspended endpoint waits for its whole patience, which is far beyond the grace.
          yield* ask(url, "POST", `/v1/projects/${project}/endpoints/${endpoint}/suspend`, token)
          const waiting = proxied(`/v1/proxy/endpoints/${endpoint}/wake`, { client_address: "198.51.100.7" })
          const outcome = Effect.runPromise(waiting)
          yield* eventually(
            "the wake to be recorded",
            Effect.map(operations, (all) => all.filter(({ action }) => action === "start_compute").length === 2)
          )
          assert.strictEqual(yield* Effect.promise(() => program.stop()), 0)
          // After its patience it would have been answered with a problem.
          assert.deepStrictEqual(yield* Effect.promise(() => outcome), { status: 503, body: undefined })
        })
    )
  })
})

/** Telemetry: what an OpenTelemetry collector gets, what it must never get, and that the platform works without it. */
import { createServer } from "node:http"
import { hostname } from "node:os"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../harness/eventually.ts"
import { ask, signIn } from "./support/ask.ts"
import { listening } from "./support/listening.ts"
import { Program } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

interface Export {
  readonly path: string
  readonly authorization: string | undefined
  readonly text: string
}

/** A collector that takes everything, or one that takes the call and never answers. */
const collector = (answers: boolean) =>
  Effect.gen(function* () {
    const exports: Array<Export> = []
    const url = yield* listening(
      createServer((request, response) => {
        let text = ""
        request.setEncoding("utf8")
        request.on("data", (chunk: string) => {
          text += chunk
        })
        request.on("end", () => {
          exports.push({ path: request.url ?? "", authorization: request.headers.authorization, text })
          if (answers) response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
      })
    )
    return { exports, url }
  })

const credential = "collector-credential"

const instance = (collected: string) =>
  Effect.gen(function* () {
    const { environment } = yield* Serving
    const telemetry = {
      NARTHEX_REGION: "local",
      OTEL_EXPORTER_OTLP_ENDPOINT: collected,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${credential}`,
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=staging,service.namespace=shop"
    }
    const program = yield* Program.start("server", ["--roles", "api"], { ...environment, ...telemetry })
    return { program, url: program.address("api") }
  })

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

/** The text of an attribute of every resource that a signal was sent for. OTLP's JSON form, by its specification. */
const resources = ({ text }: Export, name: string): ReadonlyArray<string | undefined> => {
  const batches = Object.values<
    ReadonlyArray<{ readonly resource: { readonly attributes: ReadonlyArray<Attribute> } }>
  >(JSON.parse(text))
  return batches.flat().map(({ resource }) => resource.attributes.find(({ key }) => key === name)?.value.stringValue)
}

layer(Serving.layer, { excludeTestServices: true })("telemetry", (it) => {
  it.effect(
    "telemetry has the traces, metrics and logs of all requests when the process has ended, and no secret",
    () =>
      Effect.gen(function* () {
        const { environment, issuer } = yield* Serving
        const { exports, url: collected } = yield* collector(true)
        const { program, url } = yield* instance(collected)
        const id_token = issuer.idToken("ada@example.com")
        const { token } = yield* signIn(url, id_token)
        const { body } = yield* ask(url, "POST", "/v1/api-keys/", token, { name: "telemetry" })
        const key = String(body.secret)
        const forged = `${key.slice(0, -4)}xxxx`
        assert.strictEqual((yield* ask(url, "GET", "/v1/projects", forged)).status, 401)
        assert.strictEqual((yield* ask(url, "GET", `/v1/regions?token=${key}`, key)).status, 200)
        assert.strictEqual(yield* Effect.promise(() => program.stop()), 0)

        const of = (path: string) => exports.filter((it) => it.path === path)
        for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"]) {
          assert.isNotEmpty(of(path), path)
          for (const one of of(path)) {
            assert.strictEqual(one.authorization, credential)
            assert.deepStrictEqual([...new Set(resources(one, "service.name"))], ["narthex"])
            assert.deepStrictEqual([...new Set(resources(one, "region"))], ["local"])
            assert.deepStrictEqual([...new Set(resources(one, "deployment.environment.name"))], ["staging"])
            assert.deepStrictEqual([...new Set(resources(one, "service.namespace"))], ["shop"])
            const id = `${hostname()}:${new URL(program.address("admin")).port}`
            assert.deepStrictEqual([...new Set(resources(one, "service.instance.id"))], [id])
          }
        }
        const traces = of("/v1/traces")
          .map(({ text }) => text)
          .join("\n")
        for (const path of ["/v1/auth/exchange", "/v1/api-keys/", "/v1/projects", "/v1/regions"])
          assert.include(traces, path)
        // The log goes to the operator's terminal as well.
        assert.include(
          of("/v1/logs")
            .map(({ text }) => text)
            .join("\n"),
          "Database ready"
        )
        assert.include(program.log, "Database ready")

        const everything = exports.map(({ text }) => text).join("\n") + program.log
        for (const [name, secret] of Object.entries({ id_token, token, key, forged, credential }))
          assert.notInclude(everything, secret, name)
        for (const name of ["NARTHEX_MASTER_SECRET", "NARTHEX_CONSOLE_TOKEN", "NARTHEX_PROXY_TOKEN"] as const)
          assert.notInclude(everything, environment[name], name)
      })
  )

  it.effect("a collector that never answers delays neither requests nor the end of the process", () =>
    Effect.gen(function* () {
      const { issuer } = yield* Serving
      const { exports, url: collected } = yield* collector(false)
      const { program, url } = yield* instance(collected)
      const { token } = yield* signIn(url, issuer.idToken("grace@example.com"))
      yield* eventually(
        "an export to hang",
        Effect.sync(() => exports.length > 0)
      )
      assert.strictEqual((yield* ask(url, "GET", "/v1/auth/whoami", token)).status, 200)
      assert.strictEqual(yield* Effect.promise(() => program.stop()), 0)
    })
  )
})

/** Runs what the READMEs of packages that export a layer show, and the command of SECURITY.md. */
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { keySettings, MemoryServer } from "../examples/memoryServer.ts"
import { blocksRunBy } from "./support/documentedBlocks.ts"
import { inFolder, printed } from "./support/runProgram.ts"

const blocks = blocksRunBy("test/readmes.test.ts")

/** The only block of a page in a language, with other texts in place of the page's. */
const blockOf = (page: string, language: string, replaced: ReadonlyArray<readonly [from: string, to: string]> = []) => {
  const [block, ...others] = blocks.filter((it) => it.page === page && it.language === language)
  assert.isEmpty(others)
  return replaced.reduce(
    (text, [from, to]) => (text.includes(from) ? text.replace(from, to) : assert.fail(`${page} has no ${from}.`)),
    block?.text ?? assert.fail(`${page} has no block in ${language}.`)
  )
}

const programOf = (name: string, replaced: ReadonlyArray<readonly [from: string, to: string]> = []) =>
  blockOf(`packages/${name}/README.md`, "ts", replaced)

const curl = `curl() { command curl --silent --show-error --fail-with-body "$@"; }\n`

/**
 * Builds what the pages export: the core with the API on it, and the identity providers, of which it asks an id token.
 * The proxy and the local Postgres need certificates and programs; they are made and not built.
 */
const builds = (askToken: string) => `
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { DevProviders } from "@narthex/dev-providers"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { core } from "./core.ts"
import { server as api } from "./http.ts"
import { providers } from "./providers.ts"
import { computes, store } from "./local.ts"
import { computes as elsewhere } from "./kubernetes.ts"
import { proxy } from "./proxy.ts"

const asked = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const { providers: [{ issuer }] } = yield* DevProviders
  const answer = yield* Effect.promise(() => fetch(\`http://127.0.0.1:\${address.port}/v1/auth/providers\`))
  const command = ${JSON.stringify(curl + askToken)}.replace("http://127.0.0.1:4402", issuer)
  const { stdout } = yield* Effect.promise(() => promisify(execFile)("sh", ["-euc", command]))
  return [answer.status, Object.keys(JSON.parse(stdout)).join()]
})
const served = Layer.merge(Layer.provideMerge(api, core), providers)
console.log(...(await Effect.runPromise(Effect.scoped(Effect.provide(asked, served)))))
console.log([proxy, computes, store, elsewhere].every(Layer.isLayer))
process.exit(0)
`

describe("pages outside of the guides", () => {
  it("the layers of the READMEs serve the API and the identity providers", { tags: ["curl"] }, () =>
    printed(
      builds(blockOf("packages/dev-providers/README.md", "sh")),
      {},
      {
        "core.ts": programOf("core"),
        "http.ts": programOf("http", [["4400", "0"]]),
        "providers.ts": programOf("dev-providers", [
          ["[4402, 4403]", "[0, 0]"],
          ['".narthex"', "import.meta.dirname"]
        ]),
        "local.ts": programOf("local-postgres"),
        "kubernetes.ts": programOf("kubernetes"),
        "proxy.ts": programOf("proxy")
      }
    ).then((said) => assert.match(said, /^200 id_token\ntrue\n$/m))
  )

  it.live("the layer of the README of @narthex/console listens", () =>
    Effect.gen(function* () {
      const program = programOf("console", [["port: 4401", "port: 0"]])
      // Node runs no TSX, so the program runs in this process. `npm run check` knows the type of what it exports.
      const { server } = yield* Effect.promise(() =>
        inFolder(async (folder): Promise<{ readonly server: Layer.Layer<never, unknown> }> => {
          const file = join(folder, "console.ts")
          writeFileSync(file, program)
          return await import(/* @vite-ignore */ file)
        })
      )
      yield* Effect.scoped(Layer.build(server))
    })
  )

  it.live(
    "the command of SECURITY.md revokes a leaked key",
    () =>
      Effect.gen(function* () {
        const { baseUrl, credential } = yield* keySettings
        const key = Redacted.value(credential)
        const whoami = Effect.promise(() =>
          fetch(`${baseUrl}/v1/auth/whoami`, { headers: { authorization: `Bearer ${key}` } })
        )
        assert.strictEqual((yield* whoami).status, 200)
        const command = blockOf("SECURITY.md", "sh", [
          ["https://api.example.com", baseUrl],
          ["nsk_…", key]
        ])
        yield* Effect.promise(() => promisify(execFile)("sh", ["-euc", curl + command]))
        assert.strictEqual((yield* whoami).status, 401)
      }).pipe(Effect.provide(MemoryServer.layer)),
    { tags: ["curl"] }
  )
})

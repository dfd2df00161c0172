/** A start does not load the library; the first request for it does, and is answered. In a process that loaded nothing. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

/** Prints the state of the library (its framework is CommonJS, so Node lists it) at the start, and after a request. */
const program = `
  import { createRequire } from "node:module"
  import { mkdtempSync, rmSync } from "node:fs"
  import { tmpdir } from "node:os"
  import { Context, Effect, Layer } from "effect"
  import { DevProviders } from "@narthex/dev-providers"
  const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("/koa/"))
  const dataDir = mkdtempSync(tmpdir() + "/narthex-providers-")
  const layer = DevProviders.layer({
    ports: [0, 0], host: "127.0.0.1", dataDir, clientId: "narthex", redirectUris: ["http://127.0.0.1/callback"]
  })
  const work = Effect.gen(function* () {
    const { providers } = Context.get(yield* Layer.build(layer), DevProviders)
    const atStart = isLoaded()
    const url = providers[0].issuer + "/.well-known/openid-configuration"
    const [one, other] = yield* Effect.promise(() => Promise.all([fetch(url), fetch(url)]))
    console.log(JSON.stringify({ atStart, statuses: [one.status, other.status], after: isLoaded() }))
  })
  await Effect.runPromise(Effect.scoped(work))
  rmSync(dataDir, { recursive: true })
`

const outputOf = async (): Promise<unknown> => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"]
  })
  const lines: Array<string> = []
  child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(text))
  await once(child, "close")
  const last = lines.join("").trim().split("\n").at(-1)
  return JSON.parse(last ?? "")
}

describe("the library of the development providers", () => {
  it("is loaded by the first request that needs it, not by the start", async () => {
    assert.deepStrictEqual(await outputOf(), { atStart: false, statuses: [200, 200], after: true })
  })
})

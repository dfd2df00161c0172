/** When the library is loaded, in a process that has loaded nothing: its framework is CommonJS, so Node lists it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

/** Starts the providers on a clock that stands, does `work`, and prints whether the library is loaded before and after. */
const program = (work: string) => `
  import { createRequire } from "node:module"
  import { mkdtempSync, rmSync } from "node:fs"
  import { tmpdir } from "node:os"
  import { setTimeout } from "node:timers/promises"
  import { Context, Effect, Layer } from "effect"
  import { TestClock } from "effect/testing"
  import { DevProviders } from "@narthex/dev-providers"
  const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("/koa/"))
  const dataDir = mkdtempSync(tmpdir() + "/narthex-providers-")
  const layer = DevProviders.layer({
    ports: [0, 0], host: "127.0.0.1", dataDir, clientId: "narthex", redirectUris: ["http://127.0.0.1/callback"]
  })
  const work = Effect.gen(function* () {
    const { providers } = Context.get(yield* Layer.build(layer), DevProviders)
    const atStart = isLoaded()
    ${work}
    console.log(JSON.stringify({ atStart, after: isLoaded() }))
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(work, TestClock.layer())))
  rmSync(dataDir, { recursive: true })
`

const outputOf = async (work: string): Promise<unknown> => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program(work)], {
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
    const request = `
      const response = yield* Effect.promise(() => fetch(providers[0].issuer + "/.well-known/openid-configuration"))
      if (response.status !== 200) throw new Error("The provider answered " + response.status)`
    assert.deepStrictEqual(await outputOf(request), { atStart: false, after: true })
  })

  it("is loaded a second after the start", async () => {
    // The test's own limit bounds the wait.
    const wait = `
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(async () => { while (!isLoaded()) await setTimeout(5) })`
    assert.deepStrictEqual(await outputOf(wait), { atStart: false, after: true })
  })
})

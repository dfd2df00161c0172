/** Runs the programs of packages/api/README.md against the real API, with its address and credentials in place of theirs. */
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, layer } from "@effect/vitest"
import type { Client } from "@narthex/api"
import { Effect } from "effect"
import { within } from "../../../../test/harness/eventually.ts"
import { blocksRunBy } from "../../../../test/support/documentedBlocks.ts"
import { programFolder } from "../../../../test/support/runProgram.ts"
import { idToken, memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { TestApi } from "../support/wire.ts"
import { connected } from "./clients.ts"

const root = resolve(import.meta.dirname, "../../../..")
const programs = blocksRunBy("packages/http/test/client/readme.test.ts").map(({ text }) => text)

/** The output of each program. The one that follows events has no end, so it runs last. */
const printed: ReadonlyArray<readonly [program: RegExp, prints: RegExp]> = [
  [/branches\.list/, /\[ 'main' \]/],
  [/isErrorOf/, /region_id: 'local'/],
  [/idempotencyKey/, /prj-/],
  [/onRefresh/, /readme/],
  [/NarthexClient/, /\[ 'local' \]/],
  [/events\.subscribe/, /operation\.updated\.v1 finished/]
]

/** The global of browsers that Node lacks. */
const browser = "Object.assign(globalThis, { localStorage: { setItem: () => {} } })\n"

/** Runs a file in another process, because this one is the server, until it has printed `last`. */
const printedBy = (file: string, last: RegExp): Promise<string> => {
  const child = spawn(process.execPath, ["--conditions=source", file], { cwd: root })
  let said = ""
  const ended = new Promise<string>((done, fail) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString()
        if (last.test(said)) done(said)
      })
    child.on("error", fail)
    child.on("close", () => fail(new Error(said)))
  })
  return within("the programs", ended, 110_000).finally(() => child.kill("SIGKILL"))
}

/** Changes something again and again, so that there is something to follow. */
const changing = async (client: Client, signal: AbortSignal) => {
  const { endpoint, project } = await client.projects.create({ name: "event" })
  const at = { project_id: project.id, endpoint_id: endpoint.id }
  for (let round = 0; !signal.aborted; round++) {
    const change = round % 2 === 0 ? client.endpoints.start : client.endpoints.suspend
    for (const operation of (await change(at)).operations) await client.operations.waitFor(operation)
  }
}

layer(memoryApi(), { excludeTestServices: true })("the README of @narthex/api", (it) => {
  it.effect("every program of the README of @narthex/api runs as written", () =>
    Effect.gen(function* () {
      const path = yield* programFolder
      const { port } = yield* TestApi
      const { token } = yield* founder()
      const owner = yield* connected({ credential: token })
      const { secret } = yield* Effect.promise(() => owner.apiKeys.create({ name: "readme" }))
      const files = printed.map(([wanted], at) => {
        const [program = "", ...others] = programs.filter((text) => wanted.test(text))
        assert.deepStrictEqual([program === "", others.length], [false, 0], String(wanted))
        const file = join(path, `program${at}.ts`)
        const own = program
          .replaceAll("http://127.0.0.1:4400", `http://127.0.0.1:${port}`)
          .replaceAll('"nsk_…"', JSON.stringify(secret))
          .replaceAll('"…"', JSON.stringify(idToken("readme@example.com")))
        writeFileSync(file, own)
        return file
      })
      assert.strictEqual(programs.length, files.length)
      const all = join(path, "all.ts")
      const runs = files.map((file, at) => `console.log("## ${at}")\nawait import(${JSON.stringify(file)})\n`)
      writeFileSync(all, `${browser}${runs.join("")}`)

      const enough = new AbortController()
      const said = yield* Effect.promise(async () => {
        const changes = changing(owner, enough.signal)
        try {
          return await printedBy(all, /operation\.updated\.v1 finished/)
        } finally {
          enough.abort()
          await changes
        }
      })
      const answers = said.split(/^## \d+$/m).slice(1)
      for (const [at, [, expected]] of printed.entries()) assert.match(answers[at] ?? "", expected)
    })
  )
})

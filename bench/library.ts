/**
 * The library in memory: from the import to the first caller, and a caller's authentication beside what storage takes.
 *
 * `node --conditions=source bench/library.ts [rounds]`. The start is measured in processes of its own, which take turns
 * with processes that only import the package. An authentication is compared with its own look-up in storage, in turns.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { CredentialStore, KeyDigester } from "@narthex/core"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { ControlPlane, createControlPlane } from "../packages/narthex/src/index.ts"

const rounds = Number(process.argv[2] ?? 15)
const calls = 5_000

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Milliseconds of a process of its own. */
const millis = (program: string): number => {
  const before = performance.now()
  const args = ["--conditions=source", "--input-type=module", "-e", program]
  const { status } = spawnSync(process.execPath, args, { cwd: join(import.meta.dirname, ".."), stdio: "inherit" })
  if (status !== 0) throw new Error(`The program ended with ${status}.`)
  return performance.now() - before
}

const starts = {
  "node -e 0": "0",
  "import narthex": 'import "narthex"',
  "import, createControlPlane, authenticate, close": `
    import { createControlPlane } from "narthex"
    const cp = await createControlPlane({ log: "off" })
    await cp.authenticate("nsk_none").catch(() => {})
    await cp.close()`
}
const taken = Array.from({ length: rounds }, () => Object.values(starts).map(millis))
const medians = Object.keys(starts).map((_, at) => median(taken.map((round) => round[at] ?? 0)))
for (const [at, name] of Object.keys(starts).entries()) console.log(`${name}: ${medians[at]?.toFixed(0)} ms`)
console.log(`first caller after the import: ${((medians[2] ?? 0) - (medians[1] ?? 0)).toFixed(0)} ms (aim: 100)`)

await using cp = await createControlPlane({ log: "off" })
const ada = await cp.people.ensure({ subject: "ada" })
const { secret } = await cp.client(await cp.sessions.start(ada)).apiKeys.create({ name: "ci" })

/** Storage of its own with the same size: what the look-up of a digest takes. */
const runtime = ManagedRuntime.make(ControlPlane.layer({ runner: false }))
const lookUp = await runtime.runPromise(
  Effect.gen(function* () {
    const store = yield* CredentialStore
    const digests = (yield* (yield* KeyDigester).digests(Redacted.make(secret))).map(({ digest }) => digest)
    return store.byKeyDigest(digests)
  })
)
const storage = await runtime.runPromise(Effect.context<never>())
const alone = Effect.runPromiseWith(storage)

const micros = async (call: () => Promise<unknown>) => {
  const before = performance.now()
  for (let at = 0; at < calls; at++) await call()
  return ((performance.now() - before) * 1_000) / calls
}
const authenticated: Array<number> = []
const looked: Array<number> = []
for (let round = 0; round < rounds; round++) {
  authenticated.push(await micros(() => cp.authenticate(secret)))
  looked.push(await micros(() => alone(lookUp)))
}
const [whole, store] = [median(authenticated), median(looked)]
console.log(`authenticate: ${whole.toFixed(1)} us; its look-up alone: ${store.toFixed(1)} us`)
console.log(`beside storage: ${(whole - store).toFixed(1)} us (aim: 15), ${(whole / store).toFixed(1)}x`)
await runtime.dispose()

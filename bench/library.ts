/**
 * The library in memory: from the import to the first caller, and a caller's authentication beside what storage takes.
 *
 * `node --conditions=source bench/library.ts [rounds] [folder with better-auth]`. The start is measured in processes of
 * its own. An authentication takes turns with its parts, on the same stored key, and with better-auth, if a folder has
 * it: bench/README.md says how to install it.
 */
import { type ChildProcess, fork, spawnSync } from "node:child_process"
import { createHmac, createSecretKey, randomBytes } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { CredentialStore } from "@narthex/core"
import { Context, Effect, Layer, ManagedRuntime } from "effect"
import { createControlPlane, memory } from "../packages/narthex/src/index.ts"
import { turnOf } from "./libraryTurn.ts"
import { ratio } from "./ratios.ts"

const rounds = Number(process.argv[2] ?? 15)
const folder = process.argv[3]
const turnsOfEach = rounds * 5
const root = join(import.meta.dirname, "..")

const at = (values: ReadonlyArray<number>, part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0
/** Median, with the least and the middle 80 %. */
const spread = (values: ReadonlyArray<number>, digits: number) =>
  `${at(values, 0.5).toFixed(digits)} (least ${at(values, 0).toFixed(digits)}, ${at(values, 0.1).toFixed(digits)} to ${at(values, 0.9).toFixed(digits)})`

interface Start {
  readonly imported: number
  readonly first: number
}

/** Milliseconds of the import and then of the first caller, in a process of its own. */
const start = (conditions: ReadonlyArray<string>): Start => {
  const program = `
    const before = performance.now()
    const { createControlPlane } = await import("narthex")
    const imported = performance.now()
    const cp = await createControlPlane({ log: "off" })
    await cp.authenticate("nsk_none").catch(() => {})
    console.log(JSON.stringify({ imported: imported - before, first: performance.now() - imported }))
    await cp.close()`
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const args = [...conditions, "--input-type=module", "-e", program]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" })
  if (status !== 0) throw new Error(`The program ended with ${status}.`)
  return JSON.parse(stdout)
}

const built = existsSync(join(root, "packages/narthex/dist/index.js"))
const starts = Array.from({ length: rounds }, () => ({
  sources: start(["--conditions=source"]),
  built: built ? start([]) : undefined
}))
const ofSources = starts.map(({ sources }) => sources)
const ofBuilt = starts.flatMap((round) => round.built ?? [])
for (const [name, all] of Object.entries({ sources: ofSources, "the built package": ofBuilt })) {
  if (all.length === 0) {
    console.log(`from ${name}: not measured, because packages/narthex/dist is missing (npm run build)`)
    continue
  }
  const imported = all.map((it) => it.imported)
  const first = all.map((it) => it.first)
  console.log(`import narthex from ${name}: ${spread(imported, 0)} ms`)
  console.log(`from there to the first caller: ${spread(first, 0)} ms (aim: 100)`)
}

/** Storage that the control plane and the bare look-up share, and the digests that the latest look-up was for. */
const stored = ManagedRuntime.make(memory().layer)
const ports = await stored.runPromise(Effect.context<Layer.Success<ReturnType<typeof memory>["layer"]>>())
const { byKeyDigest, ...rest } = Context.get(ports, CredentialStore)
let digests: ReadonlyArray<string> = []
const noting = CredentialStore.of({
  ...rest,
  byKeyDigest: (all) => {
    digests = all
    return byKeyDigest(all)
  }
})
await using cp = await createControlPlane({
  log: "off",
  storage: { durable: false, layer: Layer.succeedContext(Context.add(ports, CredentialStore, noting)) }
})
const ada = await cp.people.ensure({ subject: "ada" })
const { secret } = await cp.client(await cp.sessions.start(ada)).apiKeys.create({ name: "ci" })
await cp.authenticate(secret)
const alone = Effect.runPromiseWith(ports)
const pepper = createSecretKey(randomBytes(32))
const betterAuth = folder === undefined ? undefined : fork(join(import.meta.dirname, "libraryBetterAuth.ts"), [folder])
if (betterAuth !== undefined) await once(betterAuth, "message")
if (betterAuth === undefined) console.log("better-auth: not measured. bench/README.md says how to install it.")

/** A turn of the process of better-auth. */
const turnThere = async (child: ChildProcess): Promise<number> => {
  const answer = once(child, "message")
  child.send("turn")
  return Number((await answer)[0])
}
const turns: Record<string, () => Promise<number>> = {
  authenticate: () => turnOf(() => cp.authenticate(secret)),
  "its look-up on a fiber": () => turnOf(() => alone(byKeyDigest(digests))),
  "an empty fiber": () => turnOf(() => alone(Effect.void)),
  "its HMAC": () => turnOf(() => createHmac("sha256", pepper).update(secret).digest("base64url")),
  ...(betterAuth && { "better-auth's verifyApiKey": () => turnThere(betterAuth) })
}
const results = new Map<string, Array<number>>(Object.keys(turns).map((name) => [name, []]))
// The first turns are compiled.
for (let at_ = -50; at_ < turnsOfEach; at_++)
  for (const [name, call] of Object.entries(turns)) {
    const cost = await call()
    if (at_ >= 0) results.get(name)?.push(cost)
  }
for (const [name, costs] of results) console.log(`${name}: ${spread(costs, 1)} us`)
const of = (name: string, part: number) => at(results.get(name) ?? [], part)
const beside = (part: number) =>
  of("authenticate", part) - (of("its look-up on a fiber", part) - of("an empty fiber", part))
console.log(`beside storage: ${beside(0.5).toFixed(1)} us, least ${beside(0).toFixed(1)} us (aim: 15)`)
if (betterAuth !== undefined) {
  betterAuth.kill()
  const ratios = (results.get("better-auth's verifyApiKey") ?? []).map(
    (cost, round) => cost / (results.get("authenticate")?.[round] ?? 1)
  )
  console.log(`better-auth's verifyApiKey to authenticate, turn by turn: ${spread(ratios, 1)}x`)
}
ratio("library/authenticate-of-its-look-up", of("authenticate", 0) / of("its look-up on a fiber", 0))
ratio("library/first-caller-of-import", ...ofSources.map(({ first, imported }) => first / imported))
await stored.dispose()

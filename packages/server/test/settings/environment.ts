/** Settings read from an environment that is the test's own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Effect } from "effect"
import { loadSettings } from "../../src/settings/Settings.ts"

export type Env = Readonly<Record<string, string>>

export const within = <A, E>(env: Env, read: Effect.Effect<A, E>) =>
  Effect.provideService(read, ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env))

export const load = (env: Env = {}, standalone = false) => within(env, loadSettings({ standalone, terminal: false }))

export const mistakes = (env: Env, standalone = false) =>
  Effect.map(Effect.flip(load(env, standalone)), (error) => error.mistakes)

export const secret = Buffer.alloc(32, 7).toString("base64url")
export const shared = { DATABASE_URL: "postgres://narthex:hunter2@db.example/narthex", NARTHEX_MASTER_SECRET: secret }

export const provider = {
  id: "google",
  name: "Google",
  issuer: "https://accounts.google.com",
  client_ids: ["client-1"]
}
export const size = { name: "small", cpus: 0.5, memory: "1 GiB", disk: "20 GiB", default: true }

export const sizes = (...list: ReadonlyArray<object>) => ({ NARTHEX_SIZES: JSON.stringify(list) })

export const providers = (...list: ReadonlyArray<object>) => ({ NARTHEX_PROVIDERS: JSON.stringify(list) })

export const inFile = (content: string) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-settings-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true }))
    )
    const path = join(directory, "value")
    yield* Effect.promise(() => writeFile(path, content))
    return path
  })

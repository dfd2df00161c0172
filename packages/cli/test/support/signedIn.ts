/** A control plane, a home directory, and a command line that is signed in to the plane. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { ControlPlane } from "./ControlPlane.ts"
import { freshHome, runNarthex, type Setting } from "./runNarthex.ts"

export const signedIn = Effect.gen(function* () {
  const plane = yield* ControlPlane.make
  const home = yield* freshHome
  const file = join(home, ".config", "narthex", "credentials.json")
  const setting: Setting = { home, variables: { NARTHEX_URL: plane.url } }
  const login = (context: string) =>
    Effect.gen(function* () {
      const key = plane.addKey(`cli ${context}`)
      yield* runNarthex(["login", "--with-token", "--context", context], { ...setting, stdin: key.secret })
      return key
    })
  const key = yield* login("default")
  plane.requests.length = 0
  return {
    plane,
    file,
    key,
    login,
    setting,
    stored: () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined),
    run: (args: ReadonlyArray<string>, more: Partial<Setting> = {}) => runNarthex(args, { ...setting, ...more })
  }
})

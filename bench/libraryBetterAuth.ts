/**
 * better-auth with its plugin for API keys: in memory, without rate limits and telemetry. A process of its own,
 * because the next turn of another library would pay for its garbage. The parent asks for each turn.
 *
 * better-auth is no dependency, because its packages ask for versions of each other that npm resolves only when all are
 * named. The library is loaded from a folder in which it was installed. The types that are used are written here.
 */
import { randomBytes } from "node:crypto"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { turnOf } from "./libraryTurn.ts"

interface BetterAuth {
  readonly api: {
    readonly signUpEmail: (call: { readonly body: object }) => Promise<{ readonly user: { readonly id: string } }>
    readonly createApiKey: (call: { readonly body: object }) => Promise<{ readonly key: string }>
    readonly verifyApiKey: (call: { readonly body: object }) => Promise<{ readonly valid: boolean }>
  }
}

/** A call that verifies one stored key. */
const betterAuthVerify = async (folder: string): Promise<() => Promise<unknown>> => {
  const { resolve } = createRequire(join(folder, "package.json"))
  const load = (name: string) => import(pathToFileURL(resolve(name)).href)
  const { betterAuth } = await load("better-auth")
  const { memoryAdapter } = await load("better-auth/adapters/memory")
  const { apiKey } = await load("@better-auth/api-key")
  const auth: BetterAuth = betterAuth({
    secret: randomBytes(32).toString("hex"),
    baseURL: "http://localhost",
    database: memoryAdapter({ user: [], session: [], account: [], verification: [], apikey: [] }),
    emailAndPassword: { enabled: true },
    logger: { disabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    plugins: [apiKey({ rateLimit: { enabled: false } })]
  })
  const body = { email: "ada@example.com", password: randomBytes(16).toString("hex"), name: "Ada" }
  const { user } = await auth.api.signUpEmail({ body })
  const { key } = await auth.api.createApiKey({ body: { name: "ci", userId: user.id } })
  const verify = () => auth.api.verifyApiKey({ body: { key } })
  if (!(await verify()).valid) throw new Error("better-auth refuses its own key.")
  return verify
}

const verify = await betterAuthVerify(process.argv[2] ?? "")
process.on("message", () => void turnOf(verify).then((micros) => process.send?.(micros)))
process.send?.("up")

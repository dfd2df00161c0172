/**
 * better-auth on `node:http`, with its plugins for API keys and bearer tokens, over Postgres. It verifies the credential of
 * each request and answers with what it knows of the caller, without rate limits and telemetry.
 *
 * better-auth is no dependency, see `libraryBetterAuth.ts`. Its folder also has `pg`, the driver that its adapter is
 * for.
 */
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Store } from "./authenticationLoad.ts"

interface Call {
  readonly body?: object
  readonly headers?: Headers
}

interface Auth {
  readonly options: object
  readonly api: {
    readonly signUpEmail: (
      call: Call
    ) => Promise<{ readonly token: string | null; readonly user: { readonly id: string } }>
    readonly createApiKey: (call: Call) => Promise<{ readonly key: string }>
    readonly verifyApiKey: (call: Call) => Promise<{ readonly valid: boolean; readonly key: object | null }>
    readonly getSession: (call: Call) => Promise<object | null>
  }
}

/** How many sessions and API keys it makes. They are used in turn. */
const used = 256

export const peer = async (
  { folder, store: { database, host, user } }: { readonly folder: string; readonly store: Store },
  up: (port: number, tokens: ReadonlyArray<string>) => void
) => {
  const { resolve } = createRequire(join(folder, "package.json"))
  const load = (name: string) => import(pathToFileURL(resolve(name)).href)
  const { betterAuth } = await load("better-auth")
  const { getMigrations } = await load("better-auth/db/migration")
  const { bearer } = await load("better-auth/plugins")
  const { apiKey } = await load("@better-auth/api-key")
  const { Pool } = (await load("pg")).default
  const auth: Auth = betterAuth({
    secret: randomBytes(32).toString("hex"),
    baseURL: "http://localhost",
    database: new Pool({ host, database, user, max: 8 }),
    // The people who sign up are not part of what is measured.
    emailAndPassword: { enabled: true, password: { hash: async () => "hash", verify: async () => true } },
    logger: { disabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    plugins: [bearer(), apiKey({ rateLimit: { enabled: false } })]
  })
  await (await getMigrations(auth.options)).runMigrations()
  const tokens: Array<string> = []
  const keys: Array<string> = []
  for (let n = 0; n < used; n++) {
    const body = { email: `bench-${n}@example.com`, password: randomBytes(16).toString("hex"), name: "Bench" }
    const { token, user } = await auth.api.signUpEmail({ body })
    tokens.push(token ?? "")
    keys.push((await auth.api.createApiKey({ body: { name: "bench", userId: user.id } })).key)
  }
  const isKey = new Set(keys)
  const caller = async (token: string, headers: Headers) => {
    if (!isKey.has(token)) return auth.api.getSession({ headers })
    const { key, valid } = await auth.api.verifyApiKey({ body: { key: token } })
    return valid ? key : null
  }
  const server = createServer(async (request, response) => {
    const authorization = request.headers.authorization ?? ""
    const found = await caller(authorization.replace("Bearer ", ""), new Headers({ authorization }))
    const body = JSON.stringify(found)
    response.writeHead(found === null ? 401 : 200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body)
    })
    response.end(body)
  })
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    up(typeof address === "object" && address !== null ? address.port : 0, [...tokens, ...keys])
  })
}

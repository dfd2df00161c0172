/** Two API servers, each a process of its own, on one Postgres; and calls that are told apart by their status alone. */
import { Agent, request } from "node:http"
import { Effect } from "effect"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import type { ApiProcess } from "../../events/support/ApiProcesses.ts"
import { apis, stores } from "../../events/support/platform.ts"

export interface Answer {
  readonly status: number
  // Bodies are read member by member by tests that assert on each.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

export interface Sent {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export const ask = (port: number, method: string, path: string, { body, headers = {}, token }: Sent = {}) =>
  Effect.callback<Answer>((resume) => {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const outgoing = request(
      {
        agent,
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
          ...headers
        }
      },
      (incoming) => {
        let text = ""
        incoming.setEncoding("utf8")
        incoming.on("data", (chunk: string) => (text += chunk))
        incoming.on("end", () =>
          resume(Effect.succeed({ status: incoming.statusCode ?? 0, body: text === "" ? undefined : JSON.parse(text) }))
        )
      }
    )
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end(payload)
  })

/** Runs a test with the ports of two servers, beside the stores that they share. */
export const withTwoServers = <A, E, R>(test: (ports: readonly [number, number]) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const url = yield* (yield* PostgresServer).database
    const whole = Effect.gen(function* () {
      const portOf = (api: ApiProcess | undefined) => api?.port ?? 0
      const [first, second] = yield* apis(url, 2)
      return yield* test([portOf(first), portOf(second)])
    })
    return yield* Effect.provide(whole, stores(url))
  }).pipe(Effect.scoped)

let salt = 0

/** Signs somebody in: the session's token, and who and where that is. */
export const enter = (port: number, email: string) =>
  Effect.gen(function* () {
    salt += 1
    const { body } = yield* ask(port, "POST", "/v1/auth/exchange", { body: { id_token: `email:${email}:${salt}` } })
    return { token: String(body.access_token), org: String(body.organization.id), user: String(body.user.id) }
  })

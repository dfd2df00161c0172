/** Two API servers, each in its own process, on one Postgres; and calls of which only the status counts. */
import { Agent, request } from "node:http"
import { Context, Effect, Layer } from "effect"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import { apis, stores } from "../../events/support/platform.ts"

/** Milliseconds. Generous, so that a loaded machine does not fail the test. */
const answerLimit = 60_000

export type Ports = readonly [number, number]

export class TwoServers extends Context.Service<TwoServers, { readonly ports: Ports }>()("test/races/TwoServers") {
  /** With the stores that both share. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer).migrated
      const servers = Layer.effect(
        TwoServers,
        Effect.map(apis(url, 2), ([first, second]) => ({ ports: [first?.port ?? 0, second?.port ?? 0] as const }))
      )
      return Layer.provideMerge(servers, stores(url))
    })
  ).pipe(Layer.provide(PostgresServer.layer))
}

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

// Pitfall: keep-alive connections. A server closes one that was idle for seconds, and a request that a loaded machine
// sends at that moment fails.
const agent = new Agent({ keepAlive: false, maxSockets: 64 })

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
    outgoing.setTimeout(answerLimit, () =>
      outgoing.destroy(new Error(`Waited ${answerLimit / 1_000} s for the answer to ${method} ${path}.`))
    )
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end(payload)
  })

let salt = 0

/** Signs a person in; returns the session's token, the person and the organization. */
export const enter = (port: number, email: string) =>
  Effect.gen(function* () {
    salt += 1
    const { body } = yield* ask(port, "POST", "/v1/auth/exchange", { body: { id_token: `email:${email}:${salt}` } })
    return { token: String(body.access_token), org: String(body.organization.id), user: String(body.user.id) }
  })

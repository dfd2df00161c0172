/**
 * A person or a program that calls the API from an address of its own. Loopback has many addresses, so limits by
 * address distinguish callers as they do on the internet.
 */
import { request } from "node:http"
import { until } from "../../harness/eventually.ts"

export interface Answer {
  readonly status: number
  /** Empty where the answer has no JSON. */
  readonly body: Record<string, unknown>
}

/** Milliseconds. A request that is not answered within it counts as status 0. */
const patience = 45_000

export interface Caller {
  readonly api: string
  /** The address it calls from, for example `127.0.1.1`. */
  readonly from: string
  readonly token?: string
}

/** Calls the API. A connection that breaks, and an answer that does not come, is status 0. */
export const call = ({ api, from, token }: Caller, method: string, path: string, body?: unknown): Promise<Answer> =>
  new Promise((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const broken = (cause: unknown) => resolve({ status: 0, body: { cause: String(cause) } })
    const asked = request(
      new URL(path, api),
      {
        method,
        localAddress: from,
        // Pitfall: reusing connections. A request on one that the server has just closed fails, and is not an answer.
        agent: false,
        timeout: patience,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(text === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
        }
      },
      (response) => {
        let received = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => {
          received += chunk
        })
        response.on("error", broken)
        response.on("end", () => {
          const json = received.startsWith("{") ? (JSON.parse(received) as Record<string, unknown>) : {} // a JSON object
          resolve({ status: response.statusCode ?? 0, body: json })
        })
      }
    )
    asked.on("timeout", () => asked.destroy(new Error("no answer")))
    asked.on("error", broken)
    asked.end(text)
  })

/** As `call`, for a call that has to succeed. */
export const must = async (caller: Caller, method: string, path: string, body?: unknown) =>
  accepted(await call(caller, method, path, body), method, path)

const accepted = (answer: Answer, method: string, path: string) => {
  if (answer.status < 200 || answer.status > 299)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** As `must`, but repeats what was refused with Retry-After (423, 429, 503), as clients do. */
export const eventuallyMust = async (caller: Caller, method: string, path: string, body?: unknown) => {
  let answer: Answer = { status: 0, body: {} }
  await until(
    `${method} ${path}`,
    async () => {
      answer = await call(caller, method, path, body)
      return ![423, 429, 503].includes(answer.status)
    },
    { every: 200 }
  )
  return accepted(answer, method, path)
}

/** A list of objects among the members; a missing one is empty. */
export const listAt = (body: Record<string, unknown>, name: string): ReadonlyArray<Record<string, unknown>> =>
  Array.isArray(body[name]) ? body[name] : []

/** A text at a path of members; a missing one is a failure of the test. */
export const textAt = (body: Record<string, unknown>, ...path: ReadonlyArray<string>): string => {
  let value: unknown = body
  for (const name of path) value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
  if (typeof value !== "string") throw new Error(`The answer has no ${path.join(".")}: ${JSON.stringify(body)}`)
  return value
}

/**
 * Signs in at a development provider, without its pages. A repeated sign-in of an address is another session of its
 * user.
 */
export const signIn = async (api: string, issuer: string, from: string, email: string): Promise<Caller> => {
  const answer = await fetch(`${issuer}/id-token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(patience)
  })
  const { id_token } = (await answer.json()) as { readonly id_token: string } // docs/design/settings.md S9
  const session = await must({ api, from }, "POST", "/v1/auth/exchange", { id_token })
  return { api, from, token: textAt(session, "access_token") }
}

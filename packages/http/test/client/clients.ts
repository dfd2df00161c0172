/** Promise clients of the API under test, and faults between them and the server. */
import { type ClientOptions, createClient, isNarthexError } from "@narthex/api"
import { Effect } from "effect"
import { TestApi } from "../support/wire.ts"

export type Fetch = (request: Request) => Promise<Response>

/** A client of the API under test. Its pauses are short; its bounds are the defaults. */
export const connected = (options: Omit<ClientOptions, "baseUrl"> = {}) =>
  Effect.map(TestApi, ({ port }) =>
    createClient({ baseUrl: `http://127.0.0.1:${port}`, retries: { delay: 1 }, ...options })
  )

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Headers
}

/** Answers a request in place of the network, which it may use; `undefined`: the network answers. */
export type Fault = ((send: () => Promise<Response>, request: Request) => Promise<Response>) | undefined

/** A `fetch` that notes what is sent, with a fault for each of the first requests. */
export const faulty = (...faults: ReadonlyArray<Fault>) => {
  const sent: Array<Sent> = []
  const through: Fetch = async (request) => {
    const fault = faults[sent.length]
    sent.push({ method: request.method, path: new URL(request.url).pathname, headers: request.headers })
    const send = () => fetch(request)
    return fault === undefined ? send() : fault(send, request)
  }
  return { sent, fetch: through }
}

/** The server has answered, and the answer is lost. */
export const lost = async (send: () => Promise<Response>): Promise<Response> => {
  await (await send()).arrayBuffer()
  throw new TypeError("fetch failed")
}

/** The request does not arrive. */
export const unsent = (): Promise<Response> => Promise.reject(new TypeError("fetch failed"))

/** The answer breaks off in its body. */
export const cut = async (send: () => Promise<Response>): Promise<Response> => {
  const answer = await send()
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.slice(0, 5)),
    pull: (controller) => controller.error(new TypeError("terminated"))
  })
  return new Response(broken, { status: answer.status, headers: answer.headers })
}

/** An answer of an intermediary, instead of the server's. */
export const answers =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = "busy") =>
  (): Promise<Response> =>
    Promise.resolve(new Response(body, { status, headers }))

/** The `NarthexError` with which the call rejects. */
export const rejection = (call: () => Promise<unknown>) =>
  Effect.promise(async () => {
    try {
      await call()
    } catch (error) {
      if (isNarthexError(error)) return error
      throw error
    }
    throw new Error("The call did not reject.")
  })

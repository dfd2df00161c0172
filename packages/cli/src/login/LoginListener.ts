/**
 * The loopback listener of a login (docs/design/identity.md I36–I41; RFC 8252, section 7.3). It accepts one callback.
 *
 * Every request but that one `GET /callback` is answered with 404: the browser's `/favicon.ico`, a wrong state, another
 * Host (DNS rebinding), and a second callback.
 *
 * Pitfall: listening on `localhost`. It can resolve to `::1` alone, so the listener and the redirect use 127.0.0.1.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Deferred, Effect, type Scope } from "effect"
import { LoginEnded } from "../failures/LocalFailure.ts"
import { type Callback, callbackPath, readCallback } from "./callback.ts"
import { loopbackPage, styleDigest } from "./loopbackPage.ts"

export interface LoginListener {
  readonly port: number
  readonly redirect: string
  readonly callback: Effect.Effect<Callback>
}

const host = "127.0.0.1"

export const listenForCallback = (state: string): Effect.Effect<LoginListener, LoginEnded, Scope.Scope> =>
  Effect.gen(function* () {
    const received = yield* Deferred.make<Callback>()
    const server = createServer()
    const port = yield* Effect.acquireRelease(
      Effect.callback<number, LoginEnded>((resume) => {
        server.once("error", (error) => {
          const message = `Cannot listen on ${host}: ${error.message}`
          resume(Effect.fail(new LoginEnded({ message, hint: "narthex login --with-token < file" })))
        })
        server.listen(0, host, () => {
          const address = server.address()
          if (address !== null && typeof address === "object") resume(Effect.succeed(address.port))
        })
      }),
      () => Effect.callback<void>((resume) => closeServer(server, () => resume(Effect.void)))
    )
    server.on("request", (request, response) => {
      const callback = accepted(request, port, state)
      const isFirst = callback !== undefined && Deferred.doneUnsafe(received, Effect.succeed(callback))
      if (isFirst) answer(response, 200, page(callback))
      else answer(response, 404, notFound)
    })
    return { port, redirect: `http://${host}:${port}${callbackPath}`, callback: Deferred.await(received) }
  })

/** Waits for responses in progress, and closes the browser's idle connections. */
const closeServer = (server: ReturnType<typeof createServer>, done: () => void) => {
  server.close(done)
  server.closeIdleConnections()
}

const accepted = (request: IncomingMessage, port: number, state: string): Callback | undefined =>
  request.method === "GET" && request.headers.host === `${host}:${port}`
    ? readCallback(request.url ?? "", state)
    : undefined

const answer = (response: ServerResponse, status: number, body: string) =>
  response
    .writeHead(status, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${styleDigest}'; frame-ancestors 'none'`,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      connection: "close"
    })
    .end(body)

const notFound = loopbackPage("Not found", "There is no such page.", "bad")

const page = (callback: Callback) =>
  callback._tag === "Code"
    ? loopbackPage("Return to your terminal", "The command line is authorized. You can close this window.", "good")
    : loopbackPage("Not authorized", "The command line did not get a key. You can close this window.", "bad")

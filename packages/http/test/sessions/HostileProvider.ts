/**
 * An OpenID Connect issuer over real HTTP whose behaviour each test sets.
 *
 * The issuer counts its requests. A second server records every request that it gets: nothing may ever be fetched from
 * there.
 */
import type { KeyObject } from "node:crypto"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { Deferred, Effect } from "effect"
import { ecPair, ed25519Pair, rsaPair } from "./jws.ts"

export interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export const keys = { rsa: rsaPair(), ec: ecPair(), ed: ed25519Pair(), stranger: rsaPair(), next: rsaPair() }

export const jwkOf = (pair: Pair, more: object) => ({
  ...pair.publicKey.export({ format: "jwk" }),
  use: "sig",
  ...more
})

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export const json =
  (body: unknown, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }

export const redirect =
  (location: string): Answer =>
  (_, response) => {
    response.writeHead(302, { location }).end()
  }

/** A valid document, and then white space without end in sight. */
export const huge =
  (body: unknown, bytes: number): Answer =>
  (_, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.write(JSON.stringify(body))
    const chunk = " ".repeat(64 * 1024)
    let left = bytes
    const more = () => {
      while (left > 0 && !response.destroyed) {
        left -= chunk.length
        if (!response.write(chunk)) return void response.once("drain", more)
      }
      response.end()
    }
    more()
  }

/** Never answers. */
export const silent: Answer = () => undefined

const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: Effect.Effect<void> }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (typeof address !== "object" || address === null) throw new Error("The server listens on no port.")
        const close = Effect.callback<void>((closed) => {
          server.close(() => closed(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: `http://127.0.0.1:${address.port}`, close }))
      })
    }),
    ({ close }) => close
  )

export const hostileProvider = Effect.gen(function* () {
  const counts = { discovery: 0, jwks: 0, elsewhere: 0 }
  const asked = yield* Deferred.make<void>()
  const elsewhere = yield* serve((_, response) => {
    counts.elsewhere++
    json({ keys: [jwkOf(keys.stranger, { kid: "rsa-1", alg: "RS256" })] })(_, response)
  })
  const answers: { discovery: Answer; jwks: Answer } = { discovery: silent, jwks: silent }
  let hangsUp = false
  const server = yield* serve((request, response) => {
    if (hangsUp) return void request.socket.destroy()
    if (request.url === "/.well-known/openid-configuration") {
      counts.discovery++
      answers.discovery(request, response)
    } else {
      counts.jwks++
      answers.jwks(request, response)
    }
    Deferred.doneUnsafe(asked, Effect.void)
  })
  const published = {
    discovery: { issuer: server.url, jwks_uri: `${server.url}/jwks` },
    jwks: {
      keys: [
        jwkOf(keys.rsa, { kid: "rsa-1", alg: "RS256" }),
        jwkOf(keys.ec, { kid: "ec-1", alg: "ES256" }),
        jwkOf(keys.ed, { kid: "ed-1", alg: "EdDSA" })
      ]
    }
  }
  answers.discovery = json(published.discovery)
  answers.jwks = json(published.jwks)
  return {
    issuer: server.url,
    elsewhere: elsewhere.url,
    counts,
    answers,
    published,
    /** Resolves when the first request arrives. */
    asked: Deferred.await(asked),
    /** For good: its port may be another program's at once. */
    down: server.close,
    hangsUp: (does: boolean) => {
      hangsUp = does
    }
  }
})

export type HostileProvider = Effect.Success<typeof hostileProvider>

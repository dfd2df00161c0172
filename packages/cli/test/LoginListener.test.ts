import { createHash } from "node:crypto"
import { request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { listenForCallback } from "../src/login/LoginListener.ts"

const state = "s".repeat(43)

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const ask = (port: number, path: string, options: { readonly method?: string; readonly host?: string } = {}) =>
  Effect.promise(
    () =>
      new Promise<Answer>((resolve, reject) => {
        const headers = options.host === undefined ? {} : { host: options.host }
        const asked = request(
          { host: "127.0.0.1", port, path, method: options.method ?? "GET", headers },
          (response) => {
            let body = ""
            response.setEncoding("utf8")
            response.on("data", (piece: string) => {
              body += piece
            })
            response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
          }
        )
        asked.once("error", reject)
        asked.end()
      })
  )

const right = `/callback?code=the-code&state=${state}`

describe("LoginListener", () => {
  it.live("the listener accepts one callback, and answers a second one with 404", () =>
    Effect.gen(function* () {
      const { callback, port, redirect } = yield* listenForCallback(state)
      assert.strictEqual(redirect, `http://127.0.0.1:${port}/callback`)
      const first = yield* ask(port, right)
      assert.strictEqual(first.status, 200)
      assert.match(first.body, /You can close this window/)
      const [, style = ""] = /<style>([\s\S]+)<\/style>/.exec(first.body) ?? []
      const digest = createHash("sha256").update(style).digest("base64")
      assert.include(String(first.headers["content-security-policy"]), `style-src 'sha256-${digest}'`)
      assert.strictEqual((yield* ask(port, right)).status, 404)
      assert.strictEqual((yield* ask(port, `/callback?error=access_denied&state=${state}`)).status, 404)
      assert.deepStrictEqual(yield* callback, { _tag: "Code", code: "the-code" })
    }).pipe(Effect.scoped)
  )

  it.live("the listener ignores a wrong state, another Host, other methods and other paths", () =>
    Effect.gen(function* () {
      const { callback, port } = yield* listenForCallback(state)
      const ignored = [
        ask(port, "/callback?code=theirs&state=wrong"),
        ask(port, "/callback?code=theirs"),
        ask(port, right, { host: "localhost" }),
        ask(port, right, { host: `localhost:${port}` }),
        ask(port, right, { host: `evil.example:${port}` }),
        ask(port, right, { method: "POST" }),
        ask(port, right, { method: "HEAD" }),
        ask(port, "/favicon.ico"),
        ask(port, "/")
      ]
      for (const { status } of yield* Effect.all(ignored)) assert.strictEqual(status, 404)
      assert.strictEqual((yield* ask(port, right)).status, 200)
      assert.deepStrictEqual(yield* callback, { _tag: "Code", code: "the-code" })
    }).pipe(Effect.scoped)
  )

  it.live("the page of the listener has no CORS header, and forbids frames, caching and referrers", () =>
    Effect.gen(function* () {
      const { port } = yield* listenForCallback(state)
      const { headers } = yield* ask(port, right)
      assert.isUndefined(headers["access-control-allow-origin"])
      assert.strictEqual(headers["cache-control"], "no-store")
      assert.strictEqual(headers["referrer-policy"], "no-referrer")
      assert.match(String(headers["content-security-policy"]), /default-src 'none'/)
    }).pipe(Effect.scoped)
  )

  it.live("the listener closes its port when the login ends", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(Effect.map(listenForCallback(state), ({ port }) => port))
      const refused = yield* Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/callback`).then(
          () => false,
          () => true
        )
      )
      assert.isTrue(refused)
    })
  )
})

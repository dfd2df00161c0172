import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { createServer as createSilentServer, type Socket } from "node:net"
import { assert, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { makeLayerNodeHttp } from "../src/connection/nodeHttp.ts"
import { proxiesIn } from "../src/environment/proxies.ts"
import { explain } from "../src/failures/explain.ts"

const serving = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly server: Server; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address !== "object") return
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${address.port}`,
            server,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** The port of a server that accepts connections and sends nothing. */
const silent = Effect.map(
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const sockets = new Set<Socket>()
      const server = createSilentServer((socket) => {
        sockets.add(socket.on("error", () => {}))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address !== "object") return
        const close = () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        resume(Effect.succeed({ port: address.port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ),
  ({ port }) => port
)

/** The bound of the connection is a timer of Node: sockets have no part in Effect's clock. */
const fakeTimers = Effect.acquireRelease(
  Effect.sync(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })),
  () => Effect.sync(() => vi.useRealTimers())
)

const textOf = async (request: IncomingMessage) => (await request.toArray()).map(String).join("")

const signed = (url: string) => HttpClientRequest.bearerToken(HttpClientRequest.get(url), "nsk_secret")

const live = <A, E>(effect: Effect.Effect<A, E, HttpClient.HttpClient>) =>
  Effect.provide(effect, makeLayerNodeHttp({ head: 60_000, connection: 15_000, proxies: {} }))

describe("the HTTP client of the process", () => {
  it.live(
    "reaches an http server through the proxy of the environment, and one on loopback or in NO_PROXY without",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const proxy = yield* serving((request, response) => {
          asked.push(request.url ?? "")
          response.end("by proxy")
        })
        const { url } = yield* serving((_, response) => response.end("direct"))
        const getting = (address: string, variables: Readonly<Record<string, string>>) =>
          HttpClient.get(address).pipe(
            Effect.flatMap(({ text }) => text),
            Effect.provide(makeLayerNodeHttp({ head: 60_000, connection: 15_000, proxies: proxiesIn(variables) }))
          )
        const address = "http://api.example.com/v1/regions"
        assert.strictEqual(yield* getting(address, { http_proxy: proxy.url }), "by proxy")
        assert.strictEqual(yield* getting(address, { ALL_PROXY: proxy.url.slice("http://".length) }), "by proxy")
        assert.deepStrictEqual(asked, [address, address])
        assert.strictEqual(yield* getting(url, { HTTP_PROXY: proxy.url }), "direct")
        assert.strictEqual(yield* getting(url, { ALL_PROXY: "socks5://127.0.0.1:1" }), "direct")
        const besides = proxiesIn({ HTTP_PROXY: proxy.url, NO_PROXY: "api.example.com" })
        assert.strictEqual(besides["NO_PROXY"], "api.example.com,localhost,127.0.0.1,[::1]")
      }).pipe(Effect.scoped)
  )

  it.live("asks the proxy of the environment for a tunnel to an https server", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const proxy = yield* serving((_, response) => response.end())
      proxy.server.on("connect", (request, socket) => {
        asked.push(request.url ?? "")
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      })
      const failed = yield* Effect.flip(HttpClient.get("https://api.example.com/")).pipe(
        Effect.provide(
          makeLayerNodeHttp({ head: 60_000, connection: 15_000, proxies: proxiesIn({ HTTPS_PROXY: proxy.url }) })
        )
      )
      assert.match(explain(failed).sentence, /cannot be reached/)
      assert.deepStrictEqual(asked, ["api.example.com:443"])
    }).pipe(Effect.scoped)
  )

  it.live("sends a body and reads the status, a header and the text of the answer", () =>
    Effect.gen(function* () {
      const { url } = yield* serving(async (request, response) => {
        const body = await textOf(request)
        response.writeHead(201, { "x-type": request.headers["content-type"] ?? "" }).end(`${request.method} ${body}`)
      })
      const answer = yield* HttpClient.execute(HttpClientRequest.bodyText(HttpClientRequest.post(url), "{}", "a/b"))
      assert.deepStrictEqual([answer.status, answer.headers["x-type"]], [201, "a/b"])
      assert.strictEqual(yield* answer.text, "POST {}")
    }).pipe(Effect.scoped, live)
  )

  it.live("follows a redirect, with the credential on the same origin and without it on another one", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const other = yield* serving((request, response) => {
        seen.push(`other: ${request.headers.authorization}`)
        response.end("there")
      })
      const first = yield* serving((request, response) => {
        seen.push(`${request.url}: ${request.headers.authorization}`)
        response.writeHead(307, { location: request.url === "/a" ? "/b" : `${other.url}/c` }).end()
      })
      const answer = yield* HttpClient.execute(signed(`${first.url}/a`))
      assert.strictEqual(yield* answer.text, "there")
      assert.deepStrictEqual(seen, ["/a: Bearer nsk_secret", "/b: Bearer nsk_secret", "other: undefined"])
    }).pipe(Effect.scoped, live)
  )

  it.live("fails with a transport error if the server is unreachable or breaks off", () =>
    Effect.gen(function* () {
      const { url } = yield* serving((request) => request.socket.destroy())
      const broken = yield* Effect.flip(HttpClient.get(url))
      const closed = yield* Effect.flip(HttpClient.get("http://127.0.0.1:1"))
      assert.deepStrictEqual([broken.reason._tag, closed.reason._tag], ["TransportError", "TransportError"])
    }).pipe(Effect.scoped, live)
  )

  it.live("closes the connection of a request that is interrupted", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const gone = yield* Deferred.make<void>()
      const { url } = yield* serving((request) => {
        request.socket.once("close", () => Deferred.doneUnsafe(gone, Effect.void))
        Deferred.doneUnsafe(arrived, Effect.void)
      })
      const asking = yield* Effect.forkChild(HttpClient.get(url))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(asking)
      yield* Deferred.await(gone)
    }).pipe(Effect.scoped, live)
  )

  it.live("reads the body of an answer as it arrives, and closes the connection when the reader stops", () =>
    Effect.gen(function* () {
      const gone = yield* Deferred.make<void>()
      const { url } = yield* serving((_, response) => {
        response.once("close", () => Deferred.doneUnsafe(gone, Effect.void))
        response.write("first\n")
      })
      const { stream } = yield* HttpClient.get(url)
      const lines = stream.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1))
      assert.deepStrictEqual(yield* Stream.runCollect(lines), ["first"])
      yield* Deferred.await(gone)
    }).pipe(Effect.scoped, live)
  )

  it.effect("fails if no response head came within 60 seconds", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const { url } = yield* serving(() => Deferred.doneUnsafe(arrived, Effect.void))
      const asking = yield* Effect.forkChild(Effect.flip(HttpClient.get(url)))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(asking.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(explain(yield* Fiber.join(asking)).sentence, `The API at ${url} cannot be reached.`)
    }).pipe(Effect.scoped, live)
  )

  it.effect("adds the wait of a long poll to the bound of the response head", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const { url } = yield* serving(() => Deferred.doneUnsafe(arrived, Effect.void))
      const asking = yield* Effect.forkChild(Effect.flip(HttpClient.get(`${url}/operation?wait=60s`)))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("119 seconds")
      assert.isUndefined(asking.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(asking)).reason._tag, "TransportError")
    }).pipe(Effect.scoped, live)
  )

  it.effect("reads a body that is silent for an hour after the head", () =>
    Effect.gen(function* () {
      let end = () => {}
      const { url } = yield* serving((_, response) => {
        response.flushHeaders()
        end = () => void response.end("late")
      })
      const answer = yield* HttpClient.get(url)
      yield* TestClock.adjust("1 hour")
      end()
      assert.strictEqual(yield* answer.text, "late")
    }).pipe(Effect.scoped, live)
  )

  it.live("fails if the TLS handshake exceeds the bound of the connection", () =>
    Effect.gen(function* () {
      const port = yield* silent
      const failure = yield* Effect.flip(HttpClient.get(`https://127.0.0.1:${port}`))
      assert.strictEqual(failure.reason._tag, "TransportError")
      assert.match(String(failure.reason.cause), /no connection within 20 ms/)
    }).pipe(Effect.scoped, Effect.provide(makeLayerNodeHttp({ head: 60_000, connection: 20, proxies: {} })))
  )

  it.effect("the bound of the connection ends when the connection is made", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      let end = () => {}
      const { url } = yield* serving((_, response) => {
        end = () => void response.end("late")
        Deferred.doneUnsafe(arrived, Effect.void)
      })
      yield* fakeTimers
      const asking = yield* Effect.forkChild(Effect.flatMap(HttpClient.get(url), ({ text }) => text))
      yield* Deferred.await(arrived)
      vi.advanceTimersByTime(60_000)
      end()
      assert.strictEqual(yield* Fiber.join(asking), "late")
    }).pipe(Effect.scoped, live)
  )

  it.live("follows ten redirects, and fails with a transport error at the eleventh", () =>
    Effect.gen(function* () {
      const { url } = yield* serving((request, response) => {
        const left = Number(request.url?.slice(1))
        if (left === 0) response.end("there")
        else response.writeHead(302, { location: `/${left - 1}` }).end()
      })
      assert.strictEqual(yield* Effect.flatMap(HttpClient.get(`${url}/10`), ({ text }) => text), "there")
      const failure = yield* Effect.flip(HttpClient.get(`${url}/11`))
      assert.strictEqual(explain(failure).sentence, `The API at ${url} cannot be reached.`)
    }).pipe(Effect.scoped, live)
  )

  it.live("fails with a transport error for a redirect that leads nowhere, and sends no request after it", () =>
    Effect.gen(function* () {
      let location: string | undefined
      let received = 0
      const { url } = yield* serving((_, response) => {
        received += 1
        response.writeHead(302, location === undefined ? {} : { location }).end()
      })
      const host = new URL(url).host
      const wrong = [undefined, "", "http://", "http://a b/", "ftp://example.com/", "file:///etc/passwd", "data:,text"]
      for (const next of [...wrong, `http://ada:secret@${host}/`, `http://ada@${host}/`, `http://%zz@${host}/`]) {
        location = next
        const failure = yield* Effect.flip(HttpClient.get(url))
        assert.strictEqual(failure.reason._tag, "TransportError", String(next))
      }
      assert.strictEqual(received, 10)
    }).pipe(Effect.scoped, live)
  )

  it.live("asks for a body without an encoding", () =>
    Effect.gen(function* () {
      const { url } = yield* serving((request, response) => response.end(request.headers["accept-encoding"]))
      assert.strictEqual(yield* Effect.flatMap(HttpClient.get(url), ({ text }) => text), "identity")
    }).pipe(Effect.scoped, live)
  )
})

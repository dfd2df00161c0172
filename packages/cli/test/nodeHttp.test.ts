import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { layerNodeHttp } from "../src/connection/nodeHttp.ts"

const serving = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address !== "object") return
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${address.port}`,
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

const textOf = async (request: IncomingMessage) => (await request.toArray()).map(String).join("")

const signed = (url: string) => HttpClientRequest.bearerToken(HttpClientRequest.get(url), "nsk_secret")

const live = <A, E>(effect: Effect.Effect<A, E, HttpClient.HttpClient>) => Effect.provide(effect, layerNodeHttp)

describe("the HTTP client of the process", () => {
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
})

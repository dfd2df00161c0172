/** The sender of webhooks on real sockets. Holds docs/design/webhooks.md H8 and H9. */
import { assert, describe, it } from "@effect/vitest"
import { Cidr, WebhookNetworks, WebhookSender } from "@narthex/core"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { layerWebhookSender, type Resolve } from "../../src/index.ts"
import { makeReceiver, receiverName } from "./Receiver.ts"

const loopback = [Cidr.make("127.0.0.0/8")]

const sending = (
  url: string,
  {
    networks = [],
    resolve = async () => ["127.0.0.1"]
  }: { readonly networks?: ReadonlyArray<Cidr>; readonly resolve?: Resolve } = {}
) =>
  Effect.flatMap(WebhookSender, ({ post }) => post({ url, headers: { "webhook-id": "1" }, body: '{"n":"🦆"}' })).pipe(
    Effect.provide(layerWebhookSender(resolve).pipe(Layer.provide(Layer.succeed(WebhookNetworks, networks))))
  )

const refused = (url: string, options: Parameters<typeof sending>[1] = {}) =>
  Effect.map(Effect.flip(sending(url, options)), ({ reason }) => reason)

describe("the sender of webhooks", { tags: ["openssl"] }, () => {
  it.live("posts to the checked address, with the name of the URL for TLS, and reads the answer", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* makeReceiver((_, response) =>
        response.writeHead(503, { "retry-after": "7" }).end("later 🦆")
      )
      const answer = yield* sending(url, { networks: loopback })
      assert.deepStrictEqual(answer, { status: 503, retry_after: "7", excerpt: "later 🦆" })
      const [{ body, request } = assert.fail("no request")] = seen
      assert.strictEqual(body, '{"n":"🦆"}')
      assert.deepInclude(request.headers, { "webhook-id": "1", "content-type": "application/json" })
      assert.deepStrictEqual([request.method, request.url], ["POST", "/hooks?for=ada"])
      assert.strictEqual(request.headers.host, new URL(url).host)
    }).pipe(Effect.scoped)
  )

  it.live("asks for the name anew at each attempt, so a name that moves inside is refused", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* makeReceiver()
      let asked = 0
      const moving: Resolve = async () => [++asked === 1 ? "127.0.0.1" : "10.0.0.1"]
      yield* sending(url, { networks: loopback, resolve: moving })
      assert.match(yield* refused(url, { networks: loopback, resolve: moving }), /not of the public internet/)
      assert.deepStrictEqual([asked, seen.length], [2, 1])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a name of which one address is internal, and connects to none of them", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* makeReceiver()
      const both: Resolve = async () => ["127.0.0.1", "192.168.0.1"]
      assert.match(yield* refused(url, { networks: loopback, resolve: both }), /not of the public internet/)
      assert.match(yield* refused(url), /not of the public internet/)
      assert.lengthOf(seen, 0)
    }).pipe(Effect.scoped)
  )

  it.live("follows no redirect", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* makeReceiver((_, response) =>
        response.writeHead(307, { location: "https://127.0.0.1/inside" }).end()
      )
      assert.strictEqual((yield* sending(url, { networks: loopback })).status, 307)
      assert.lengthOf(seen, 1)
    }).pipe(Effect.scoped)
  )

  it.live("reads no more of an answer than it keeps", () =>
    Effect.gen(function* () {
      const { url } = yield* makeReceiver((_, response) => {
        response.writeHead(200)
        // Without an end: it has to stop by itself.
        response.write("x".repeat(100_000))
      })
      const { excerpt, status } = yield* sending(url, { networks: loopback })
      assert.strictEqual(status, 200)
      assert.isAtMost(excerpt.length, 1024)
    }).pipe(Effect.scoped)
  )

  it.live("ends the connection when it is interrupted", () =>
    Effect.gen(function* () {
      const [arrived, closed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { url } = yield* makeReceiver(({ request }) => {
        request.socket.on("close", () => Effect.runSync(Deferred.succeed(closed, undefined)))
        Effect.runSync(Deferred.succeed(arrived, undefined))
      })
      const fiber = yield* Effect.forkChild(sending(url, { networks: loopback }))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* Effect.timeout(Deferred.await(closed), "30 seconds")
    }).pipe(Effect.scoped)
  )

  it.live("refuses a certificate of another name, and a receiver that is not there", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* makeReceiver()
      const other = yield* refused(`https://other.narthex.test:${port}/`, { networks: loopback })
      assert.match(other, /ERR_TLS_CERT_ALTNAME_INVALID/)
      assert.lengthOf(seen, 0)
      assert.match(yield* refused(`https://${receiverName}:1/`, { networks: loopback }), /ECONNREFUSED/)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a name without addresses, and URLs that lead nowhere it may go", () =>
    Effect.gen(function* () {
      const unknown: Resolve = async () => []
      assert.match(yield* refused("https://nowhere.narthex.test/", { resolve: unknown }), /not found/)
      const failing: Resolve = () => Promise.reject(new Error("SERVFAIL"))
      assert.match(yield* refused("https://nowhere.narthex.test/", { resolve: failing }), /not found/)
      for (const url of ["http://example.com/", "https://127.0.0.1/", "https://[::1]/", "https://0x7f.1/"])
        assert.match(yield* refused(url), /^Expected/, url)
    })
  )
})

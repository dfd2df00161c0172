/** The calls of a proxy within the process of the API: they need no socket, and are authenticated as over one. */
import { createServer } from "node:http"
import { assert, layer } from "@effect/vitest"
import { EndpointId, ProjectId } from "@narthex/core"
import { ControlPlane, HttpControlPlane } from "@narthex/proxy"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { memoryApi, proxyToken } from "../../packages/http/test/support/apiOver.ts"
import { founder, project } from "../../packages/http/test/support/story.ts"
import { TestApi } from "../../packages/http/test/support/wire.ts"

/** The paths of the requests that the API got over its sockets. */
class OverSocket extends Context.Service<OverSocket, Array<string>>()("test/OverSocket") {}

const everything = Layer.unwrap(
  Effect.sync(() => {
    const seen: Array<string> = []
    const counting = () => createServer().on("request", ({ url = "" }) => void seen.push(url))
    return Layer.merge(memoryApi({ createServer: counting, stands: true }), Layer.succeed(OverSocket, seen))
  })
)

/** A proxy's control plane: the API of this process. */
const planeWith = Effect.fnUntraced(function* (token: string) {
  const { direct, port } = yield* TestApi
  const config = { api_url: `http://127.0.0.1:${port}`, api_client: direct, token: Redacted.make(token) }
  return yield* Effect.provide(ControlPlane, HttpControlPlane.layer(config))
})

const refusalOf = ({ resolve }: ControlPlane["Service"]) =>
  Effect.map(Effect.flip(resolve(EndpointId.make("ep-none"), undefined)), ({ _tag }) => _tag)

layer(everything, { excludeTestServices: true })("a proxy in the process of the API", (it) => {
  it.effect("calls and the stream of changes need no socket, and a wrong token is refused", () =>
    Effect.gen(function* () {
      const plane = yield* planeWith(proxyToken)
      assert.strictEqual(yield* refusalOf(plane), "EndpointUnknown")
      assert.strictEqual(yield* refusalOf(yield* planeWith("another")), "ControlPlaneUnreachable")
      const who = yield* founder()
      const { id, path } = yield* project(who)
      const changed = yield* Effect.scoped(
        Effect.gen(function* () {
          const changes = yield* plane.changes
          yield* who.call("POST", `${path}/ip-allow`, { body: { cidr: "203.0.113.0/24" } })
          return yield* Stream.runHead(changes)
        })
      )
      assert.strictEqual(changed._tag, "Some")
      const [list] = yield* plane.allowlists([ProjectId.make(id)])
      assert.deepStrictEqual(
        list?.rules.map(({ cidr }) => cidr),
        ["203.0.113.0/24"]
      )
      const seen = yield* OverSocket
      assert.deepStrictEqual(
        seen.filter((path) => path.startsWith("/v1/proxy/")),
        []
      )
    })
  )
})

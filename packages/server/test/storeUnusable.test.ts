/** A failed start names the reason why the database of `DATABASE_URL` cannot be used. */
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerStorage } from "../src/store.ts"
import { load, secret } from "./settings/environment.ts"

const failureOf = (url: string) =>
  Effect.gen(function* () {
    const settings = yield* load({ DATABASE_URL: url, NARTHEX_MASTER_SECRET: secret }, true)
    return (yield* Effect.flip(Effect.scoped(Layer.build(layerStorage(settings))))).message
  })

/** A server that answers every startup packet with this error. */
const refusing = (code: string, message: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
      const head = Buffer.alloc(5, "E")
      head.writeInt32BE(body.length + 4, 1)
      const server = createServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.once("data", () => socket.end(Buffer.concat([head, body])))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port, close: () => void server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("a database that cannot be used", () => {
  it.live("a closed port is named, with the variable", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* failureOf("postgres://postgres@127.0.0.1:1/x?sslmode=disable"),
        "DATABASE_URL: nothing listens on 127.0.0.1:1. Start Postgres, or correct the URL."
      )
    })
  )

  const refusals = [
    ["3D000", 'database "x" does not exist', /^DATABASE_URL: the database "x" does not exist on /],
    ["28P01", "password authentication failed", /^DATABASE_URL: .* refused the password of the user "ann"/],
    ["28000", 'role "ann" does not exist', /^DATABASE_URL: .* refused the user "ann": role "ann" does not exist/],
    [
      "42P07",
      'relation "project" already exists',
      /^DATABASE_URL: the schema "narthex" on .*: relation "project" already/
    ],
    ["25006", "cannot execute CREATE TABLE in a read-only transaction", /^DATABASE_URL: .* accepts no changes from /]
  ] as const
  it.live.each(refusals)("the refusal %s is explained", ([code, message, sentence]) =>
    Effect.gen(function* () {
      const { port } = yield* refusing(code, message)
      const said = yield* failureOf(`postgres://ann:hunter2@127.0.0.1:${port}/x?sslmode=disable`)
      assert.match(said, sentence)
      assert.notInclude(said, "hunter2")
    })
  )
})

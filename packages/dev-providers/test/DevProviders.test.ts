import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeProtectedHeader } from "jose"
import { dataDir, running, settings, start } from "./running.ts"
import { clientId, json, post, verify } from "./signIn.ts"

const portOf = (issuer: string) => Number(new URL(issuer).port)

const ed25519 = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`

describe("the development providers", () => {
  it.live("the development providers are two plain issuers, each with its own URL and name", () =>
    Effect.gen(function* () {
      const [one, two] = yield* running()
      assert.deepStrictEqual(
        [one, two].map(({ algorithms, client_ids, id, name }) => ({ algorithms, client_ids, id, name })),
        [
          { id: "dev-one", name: "Development One", client_ids: [clientId], algorithms: ["RS256"] },
          { id: "dev-two", name: "Development Two", client_ids: [clientId], algorithms: ["ES256"] }
        ]
      )
      assert.notStrictEqual(one.issuer, two.issuer)
      for (const { issuer } of [one, two]) {
        assert.match(issuer, /^http:\/\/127\.0\.0\.1:\d+$/)
        const { body } = yield* Effect.promise(() => json(`${issuer}/.well-known/openid-configuration`))
        assert.strictEqual(body["issuer"], issuer)
        assert.strictEqual(body["authorization_endpoint"], `${issuer}/authorize`)
        assert.strictEqual(body["token_endpoint"], `${issuer}/token`)
        assert.deepStrictEqual(body["response_types_supported"], ["code"])
        assert.deepStrictEqual(body["code_challenge_methods_supported"], ["S256"])
        assert.includeMembers(body["scopes_supported"] as Array<string>, ["openid", "email", "profile"])
      }
    })
  )

  it.live("each development provider publishes its own key, without the private half", () =>
    Effect.gen(function* () {
      const published = yield* Effect.forEach(yield* running(), ({ issuer }) =>
        Effect.promise(() => json(`${issuer}/jwks`))
      )
      const keys = published.map(({ body }) => body["keys"] as Array<Record<string, unknown>>)
      assert.deepStrictEqual(
        keys.map((set) => set.map((key) => [key["kty"], key["alg"]])),
        [[["RSA", "RS256"]], [["EC", "ES256"]]]
      )
      const [one, two] = keys.flat()
      assert.notStrictEqual(one?.["kid"], two?.["kid"])
      for (const member of ["d", "p", "q", "dp", "dq", "qi"]) {
        for (const key of keys.flat()) assert.notProperty(key, member)
      }
    })
  )

  it.live("a token of one development provider does not verify with the other's keys", () =>
    Effect.gen(function* () {
      const [one, two] = yield* running()
      const { body } = yield* Effect.promise(() => post(`${one.issuer}/id-token`, { email: "ada@example.com" }))
      const foreign = yield* Effect.result(
        Effect.tryPromise(() => verify(two.issuer, body["id_token"], one.algorithms[0] ?? ""))
      )
      assert.strictEqual(foreign._tag, "Failure")
    })
  )

  it.live("tokens of the development providers stay valid over a restart", () =>
    Effect.gen(function* () {
      const path = yield* dataDir
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const [one, two] = yield* start(settings(path))
          const tokens = yield* Effect.forEach([one, two], ({ issuer }) =>
            Effect.promise(() => post(`${issuer}/id-token`, { email: "ada@example.com" }))
          )
          return { ports: [portOf(one.issuer), portOf(two.issuer)] as const, tokens }
        })
      )
      const after = yield* start(settings(path, { ports: before.ports }))
      for (const [index, { algorithms, issuer }] of after.entries()) {
        const token = before.tokens[index]?.body["id_token"]
        const { payload } = yield* Effect.promise(() => verify(issuer, token, algorithms[0] ?? ""))
        assert.strictEqual(payload["email"], "ada@example.com")
      }
    })
  )

  it.live("the development providers keep their keys readable by the owner alone, and leave no other file", () =>
    Effect.gen(function* () {
      const path = join(yield* dataDir, "dev-providers")
      yield* Effect.scoped(start(settings(join(path, ".."))))
      const files = yield* Effect.promise(() => readdir(path))
      assert.sameMembers(files, ["dev-one.pem", "dev-two.pem"])
      const modes = () =>
        Effect.promise(() => Promise.all(files.map(async (file) => (await stat(join(path, file))).mode & 0o777)))
      assert.deepStrictEqual(yield* modes(), [0o600, 0o600])
      assert.strictEqual((yield* Effect.promise(() => stat(path))).mode & 0o777, 0o700)

      yield* Effect.promise(() => Promise.all(files.map((file) => chmod(join(path, file), 0o644))))
      yield* Effect.scoped(start(settings(join(path, ".."))))
      assert.deepStrictEqual(yield* modes(), [0o600, 0o600], "a loose file is tightened")
    })
  )

  it.live("a token of a development provider names its key by thumbprint", () =>
    Effect.gen(function* () {
      const [, two] = yield* running()
      const { body } = yield* Effect.promise(() => post(`${two.issuer}/id-token`, { email: "ada@example.com" }))
      const jwks = yield* Effect.promise(() => json(`${two.issuer}/jwks`))
      const [key] = jwks.body["keys"] as Array<Record<string, unknown>>
      assert.strictEqual(decodeProtectedHeader(String(body["id_token"])).kid, key?.["kid"])
    })
  )

  it.live.each([
    ["another file", "notes of mine"],
    ["a key of another kind", ed25519]
  ] as const)("refuse to start over %s in the place of a key, and leave it alone", ([, content]) =>
    Effect.gen(function* () {
      const path = yield* dataDir
      const file = join(path, "dev-providers", "dev-one.pem")
      yield* Effect.promise(() => mkdir(join(path, "dev-providers")))
      yield* Effect.promise(() => writeFile(file, content))
      const error = yield* Effect.flip(start(settings(path)))
      assert.strictEqual(error._tag, "SigningKeyUnusable")
      assert.include(error.message, `${file} cannot be used. It holds no private key for RS256.`)
      assert.strictEqual(yield* Effect.promise(() => readFile(file, "utf8")), content)
    })
  )

  it.live("the development providers refuse a key behind a symbolic link", () =>
    Effect.gen(function* () {
      const path = yield* dataDir
      yield* Effect.promise(() => mkdir(join(path, "dev-providers")))
      yield* Effect.promise(() => writeFile(join(path, "elsewhere.pem"), ed25519))
      yield* Effect.promise(() => symlink(join(path, "elsewhere.pem"), join(path, "dev-providers", "dev-one.pem")))
      const error = yield* Effect.flip(start(settings(path)))
      assert.include(error.message, "The file system answered ELOOP.")
    })
  )

  it.live("the development providers do not start in production", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start(settings(yield* dataDir), { NODE_ENV: "production" }))
      assert.strictEqual(error._tag, "DevProvidersRefused")
      assert.include(error.message, "never run with NODE_ENV=production")
    })
  )

  it.live.each(["0.0.0.0", "::", "192.168.1.7", "localhost", "127.0.0.1.example.com"])(
    "the development providers do not listen on %s",
    (host) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(start(settings(yield* dataDir, { host })))
        assert.strictEqual(error._tag, "DevProvidersRefused")
        assert.include(error.message, `on loopback only (127.0.0.1 or ::1), not on ${host}`)
      })
  )

  it.live.each([[[]], [["javascript:alert(1)"]], [["http://127.0.0.1:4401/callback#x"]]])(
    "refuse to return to %j",
    (given) =>
      Effect.gen(function* () {
        const redirectUris = given.flat()
        const error = yield* Effect.flip(start(settings(yield* dataDir, { redirectUris })))
        assert.strictEqual(error._tag, "DevProvidersRefused")
      })
  )

  it.live("the development providers name a port that another process uses", () =>
    Effect.gen(function* () {
      const [one] = yield* running()
      const error = yield* Effect.flip(running({ ports: [portOf(one.issuer), 0] }))
      assert.strictEqual(error._tag, "PortUnavailable")
      assert.strictEqual(
        error.message,
        `Cannot listen on 127.0.0.1, port ${portOf(one.issuer)}: another process uses the port.`
      )
    })
  )

  it.live("the development providers stop listening when their scope closes", () =>
    Effect.gen(function* () {
      const [one, two] = yield* Effect.scoped(running())
      for (const { issuer } of [one, two]) {
        const gone = yield* Effect.result(Effect.tryPromise(() => fetch(issuer)))
        assert.strictEqual(gone._tag, "Failure")
      }
    })
  )
})

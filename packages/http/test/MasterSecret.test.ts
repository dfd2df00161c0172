import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { MasterSecret, readMasterSecret } from "../src/MasterSecret.ts"
import { loadMasterSecret } from "../src/masterSecretFile.ts"

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-secret-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)
const noKeys = Effect.succeed(false)
const keys = Effect.succeed(true)
const mode = (path: string) =>
  Effect.map(
    Effect.promise(() => stat(path)),
    (found) => found.mode & 0o777
  )

describe("the master secret in the data directory", () => {
  it.effect("the master secret is generated once, readable by its owner only, and read again", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* directory, "data")
      const made = yield* loadMasterSecret(dataDir, noKeys)
      assert.strictEqual(Buffer.from(Redacted.value(made), "base64url").length, 32)
      assert.strictEqual(yield* mode(join(dataDir, "master-secret")), 0o600)
      assert.strictEqual(yield* mode(dataDir), 0o700)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(dataDir)), ["master-secret"])
      assert.strictEqual(Redacted.value(yield* loadMasterSecret(dataDir, keys)), Redacted.value(made))
    })
  )

  it.effect("processes that start together share one master secret", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => loadMasterSecret(dataDir, noKeys)),
        { concurrency: 8 }
      )
      assert.strictEqual(new Set(all.map(Redacted.value)).size, 1)
    })
  )

  it.effect("a missing master secret is not replaced while signing keys exist", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const refusal = yield* Effect.flip(loadMasterSecret(dataDir, keys))
      assert.strictEqual(refusal._tag, "MasterSecretMissing")
      assert.include(refusal.message, join(dataDir, "master-secret"))
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(dataDir)), [])
    })
  )

  it.effect("a master secret that others may read is made private", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      yield* loadMasterSecret(dataDir, noKeys)
      yield* Effect.promise(() => chmod(join(dataDir, "master-secret"), 0o644))
      yield* loadMasterSecret(dataDir, keys)
      assert.strictEqual(yield* mode(join(dataDir, "master-secret")), 0o600)
    })
  )

  it.effect("the master secret is not read through a symbolic link", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      yield* Effect.promise(() => symlink("/etc/hostname", join(dataDir, "master-secret")))
      assert.strictEqual((yield* Effect.flip(loadMasterSecret(dataDir, noKeys)))._tag, "MasterSecretUnusable")
    })
  )

  it.effect.each(["", "short", "a".repeat(42)])(
    "a master secret file that holds %j is refused and not changed",
    (content) =>
      Effect.gen(function* () {
        const path = join(yield* directory, "master-secret")
        yield* Effect.promise(() => writeFile(path, content))
        const refusal = yield* Effect.flip(loadMasterSecret(join(path, ".."), noKeys))
        assert.strictEqual(refusal._tag, "MasterSecretUnusable")
        assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), content)
      })
  )
})

describe("secrets that are derived from the master secret", () => {
  const given = (letter: string) =>
    Effect.map(
      Layer.build(MasterSecret.layerGiven(Redacted.make(Buffer.alloc(32, letter).toString("base64url")))),
      (context) => Context.get(context, MasterSecret)
    )

  it.effect("a derived secret differs by use and by master secret, and is stable", () =>
    Effect.gen(function* () {
      const [one, again, other] = [yield* given("a"), yield* given("a"), yield* given("b")]
      const all = Effect.fnUntraced(function* (secret: typeof one) {
        return [
          Redacted.value(secret.key("signing-key-wrapping")),
          Redacted.value(secret.key("console-cookie")),
          Redacted.value((yield* secret.pepper(1)).key),
          Redacted.value((yield* secret.pepper(2)).key),
          Buffer.from(Redacted.value(secret.token("console-token")), "base64url"),
          Buffer.from(Redacted.value(secret.token("proxy-token")), "base64url")
        ].map((bytes) => Buffer.from(bytes).toString("hex"))
      })
      const secrets = yield* all(one)
      assert.deepStrictEqual(secrets, yield* all(again))
      assert.strictEqual(new Set([...secrets, ...(yield* all(other))]).size, 12)
      for (const hex of secrets) assert.lengthOf(hex, 64)
      assert.deepStrictEqual([(yield* one.pepper(1)).id, (yield* one.pepper(2)).id], ["p1", "p2"])
    })
  )

  it.effect("derived secrets are the same as in earlier versions", () =>
    Effect.gen(function* () {
      const secret = yield* given("a")
      const hex = Buffer.from(Redacted.value(secret.key("signing-key-wrapping"))).toString("hex")
      assert.strictEqual(hex, "ef28f08ff6be20706886f80ea6b6e3f487633d2de52fb8dc6c92db94ba591c31")
    })
  )

  it("printing the master secret does not reveal it", () => {
    assert.strictEqual(String(readMasterSecret("A".repeat(43))), "<redacted:master secret>")
  })
})

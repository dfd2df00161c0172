import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { signedIn } from "./support/signedIn.ts"

describe("api-key", () => {
  it.live("api-key list prints the keys without their secrets", () =>
    Effect.gen(function* () {
      const { key, run } = yield* signedIn
      const { stdout } = yield* run(["api-key", "list"])
      assert.include(stdout, key.id)
      assert.notInclude(stdout, "nsk_")
    }).pipe(Effect.scoped)
  )

  it.live("api-key revoke --self asks no question and deletes the context", () =>
    Effect.gen(function* () {
      const { keys, run, stored } = yield* signedIn
      assert.strictEqual((yield* run(["api-key", "revoke", "--self"])).code, 0)
      assert.lengthOf(yield* keys, 0)
      assert.deepStrictEqual(stored().contexts, {})
    }).pipe(Effect.scoped)
  )

  it.live("api-key revoke of an id requires --yes without a terminal, and a key can revoke only itself", () =>
    Effect.gen(function* () {
      const { addKey, keys, run } = yield* signedIn
      const theirs = yield* Effect.promise(() => addKey("theirs"))
      assert.strictEqual((yield* run(["api-key", "revoke", theirs.id])).code, 2)
      const { code, stderr } = yield* run(["api-key", "revoke", theirs.id, "--yes"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /code: key_self_only/)
      assert.strictEqual((yield* run(["api-key", "revoke"])).code, 2)
      assert.strictEqual((yield* run(["api-key", "revoke", "..", "--yes"])).code, 1)
      assert.lengthOf(yield* keys, 2)
    }).pipe(Effect.scoped)
  )

  it.live("api-key create explains that a key cannot create a key, and opens the console with --open", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      for (const name of [[], ["ci"]]) {
        const { code, stderr } = yield* run(["api-key", "create", ...name])
        assert.strictEqual(code, 1)
        assert.match(
          stderr,
          /needs a person's session.*\n {2}hint: do it in the console: http:\/\/console\.test\/orgs\//
        )
      }
      const opened: Array<string> = []
      const open = (url: string) => Effect.sync(() => opened.push(url) > 0)
      const second = yield* run(["api-key", "create", "--open"], { open })
      assert.strictEqual(second.code, 0)
      assert.deepStrictEqual(opened, [second.stdout.trim()])
    }).pipe(Effect.scoped)
  )
})

describe("api", () => {
  it.live("api sends the credential to any path, with the method in any case", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      const { code, stdout } = yield* run(["api", "get", "/v1/projects?limit=1"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(JSON.parse(stdout), { projects: [], pagination: { next_cursor: null } })
      assert.strictEqual(plane.requests.at(-1)?.query.get("limit"), "1")
      const made = yield* run(["api", "POST", "/v1/projects", "--body", "-"], { stdin: '{"name":"x","region":"eu"}' })
      assert.strictEqual(JSON.parse(made.stdout).project.name, "x")
      assert.deepStrictEqual((yield* run(["api", "DELETE", "/v1/api-keys/self"])).stdout, "")
    }).pipe(Effect.scoped)
  )

  it.live("api refuses a URL, so that the credential is sent only to the API", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      for (const path of ["https://evil.example/", "//evil.example/", "@evil.example/", "/\\evil.example", "/a b"])
        assert.strictEqual((yield* run(["api", "GET", path])).code, 2, path)
      assert.deepStrictEqual(plane.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("api prints a problem like other commands", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { code, stderr, stdout } = yield* run(["api", "GET", "/v1/nothing"])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: Not found\. .*\n {2}hint: .*\n {2}code: not_found · request: \S+\n$/)
    }).pipe(Effect.scoped)
  )
})

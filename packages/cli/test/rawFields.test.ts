import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { everyPageOf } from "../src/connection/everyPageOf.ts"
import { nested, splitField, typedValue } from "../src/input/fields.ts"
import { signedIn } from "./support/signedIn.ts"

const objectOf = (...fields: ReadonlyArray<string>) =>
  Result.map(nested(fields.map(splitField)), (root) => JSON.parse(JSON.stringify(root)))

describe("fields of narthex api", () => {
  it("a field is split at its first equals sign", () => {
    assert.deepStrictEqual(splitField("name=a=b"), ["name", "a=b"])
  })

  it("a typed value is JSON where it is JSON, and a text elsewhere", () => {
    assert.deepStrictEqual(["true", "null", "42", '["a"]', '"7"', "shop", "1.2.3", ""].map(typedValue), [
      true,
      null,
      42,
      ["a"],
      "7",
      "shop",
      "1.2.3",
      ""
    ])
  })

  it("keys lead into objects and lists", () => {
    assert.deepStrictEqual(
      Result.getOrThrow(objectOf("name=shop", "scope[type]=project", "scope[id]=1", "tags[]=a", "tags[]=b")),
      { name: "shop", scope: { type: "project", id: "1" }, tags: ["a", "b"] }
    )
    assert.strictEqual(JSON.stringify(Result.getOrThrow(objectOf("__proto__[x]=1"))), '{"__proto__":{"x":"1"}}')
    assert.isFalse("x" in {})
  })

  it("contradicting fields are refused", () => {
    for (const fields of [
      ["a=1", "a=2"],
      ["a=1", "a[b]=2"],
      ["a[]=1", "a[b]=2"],
      ["a[b]=1", "a[]=2"]
    ])
      assert.isTrue(Result.isFailure(nested(fields.map(splitField))), fields.join(" "))
  })

  it.live("fields are the body of a POST and the query of a GET", () =>
    Effect.gen(function* () {
      const { client, plane, run } = yield* signedIn
      const made = yield* run(["api", "post", "/v1/projects", "-f", "name=42", "-f", "region=eu"])
      assert.strictEqual(made.code, 0)
      const { projects } = yield* Effect.promise(() => client.projects.list({}))
      assert.strictEqual(projects[0]?.name, "42")
      yield* run(["api", "GET", "/v1/projects?limit=1", "-f", "cursor=0", "-F", "flag=true"])
      assert.deepStrictEqual(Object.fromEntries(plane.requests.at(-1)?.query ?? []), {
        limit: "1",
        cursor: "0",
        flag: "true"
      })
    }).pipe(Effect.scoped)
  )

  it.live("the body comes from one source only, and --input - is standard input", () =>
    Effect.gen(function* () {
      const { client, run } = yield* signedIn
      const names = Effect.promise(async () => (await client.projects.list({})).projects.map(({ name }) => name))
      const stdin = '{"name":"piped","region":"eu"}'
      assert.strictEqual((yield* run(["api", "POST", "/v1/projects", "--input", "-"], { stdin })).code, 0)
      assert.deepStrictEqual(yield* names, ["piped"])
      for (const args of [
        ["--input", "-", "-f", "a=b"],
        ["--body", "{}", "-F", "a=b"],
        ["-f", "novalue"],
        ["--paginate"],
        ["--input", "/nowhere/at/all"]
      ])
        assert.strictEqual((yield* run(["api", "POST", "/v1/projects", ...args])).code, 2, args.join(" "))
      assert.deepStrictEqual(yield* names, ["piped"])
    }).pipe(Effect.scoped)
  )
})

describe("narthex api --paginate", () => {
  it.live("pages are joined to one answer", () =>
    Effect.gen(function* () {
      const { client, plane, run } = yield* signedIn
      for (const name of ["a", "b", "c", "d", "e"]) yield* Effect.promise(() => client.projects.create({ name }))
      const { code, stdout } = yield* run(["api", "GET", "/v1/projects?limit=2", "--paginate", "--json", "name"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(
        JSON.parse(stdout),
        ["e", "d", "c", "b", "a"].map((name) => ({ name }))
      )
      assert.strictEqual(plane.requests.filter(({ path }) => path === "/v1/projects").length, 3)
    }).pipe(Effect.scoped)
  )

  it.live("a server that repeats a page does not keep the client", () =>
    Effect.gen(function* () {
      const page = { projects: [1], pagination: { next_cursor: "same" } }
      const failure = yield* Effect.flip(everyPageOf(() => Effect.succeed(page)))
      assert.strictEqual(failure.message, "The server repeats a page.")
      const other = yield* Effect.flip(everyPageOf(() => Effect.succeed({ id: 1 })))
      assert.strictEqual(other.message, "The answer is not a page of a list.")
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onControlPlane } from "./support/onControlPlane.ts"

describe("sandbox create", () => {
  it.live("sandbox create makes a branch with a lifetime, and shows its connection string once", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      yield* run(["project", "create", "shop", "--wait"])
      const made = yield* run([
        "sandbox",
        "create",
        "try",
        "--project",
        "shop",
        "--from",
        "main",
        "--ttl",
        "2h",
        "--wait",
        "-o",
        "json"
      ])
      const { branch, connection_uri } = JSON.parse(made.stdout)
      assert.match(connection_uri, /^postgresql:\/\/role_\w+:[^@]+@/)
      assert.strictEqual(Date.parse(branch.expires_at) - Date.parse(branch.created_at), 7_200_000)
      const table = yield* run(["sandbox", "create", "--project", "shop"])
      assert.match(table.stdout, /^uri +postgresql:\/\/role_/m)
      assert.match(table.stderr, /shown only now[\s\S]*To follow/)
      assert.strictEqual((yield* run(["sandbox", "create", "--project", "shop", "--ttl", "2d"])).code, 2)
    }).pipe(Effect.scoped)
  )
})

describe("events history", () => {
  it.live("events history is newest first, after an event oldest first, and has pages", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      for (const name of ["shop", "blog"]) yield* run(["project", "create", name, "--wait"])
      const listed = (args: ReadonlyArray<string>) =>
        Effect.map(run(["events", "history", "-o", "json", ...args]), ({ stderr, stdout }) => ({
          ...JSON.parse(stdout),
          stderr
        }))
      const ids = ({ events }: { readonly events: ReadonlyArray<{ readonly id: string }> }) =>
        events.map(({ id }) => id)
      const all = yield* listed([])
      assert.deepStrictEqual(ids(all), ids(all).toSorted().toReversed())
      const [newest = "", ...others] = ids(all)
      const oldest = others.at(-1) ?? ""
      assert.deepStrictEqual(ids(yield* listed(["--after", oldest])), [newest, ...others.slice(0, -1)].toReversed())
      const first = yield* listed(["--limit", "1"])
      assert.deepStrictEqual(ids(first), [newest])
      assert.match(first.stderr, /^There are more: --limit, or --cursor \S+\n$/)
      const next = yield* listed(["--limit", "1", "--cursor", first.pagination.next_cursor])
      assert.deepStrictEqual(ids(next), others.slice(0, 1))
      const shop = yield* listed(["--project", "shop"])
      assert.isBelow(shop.events.length, all.events.length)
      const table = (yield* run(["events", "history", "--project", "shop"])).stdout
      assert.match(
        table,
        /^AT +TYPE +PROJECT +WHAT +ID\n\S+ +operation\.updated\.v1 +prj-\w+ +create_timeline finished/
      )
    }).pipe(Effect.scoped)
  )
})

describe("ip-allow check", () => {
  it.live("ip-allow check says whether an address may connect, by which rule, and how to allow it", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      yield* run(["project", "create", "shop"])
      const check = (args: ReadonlyArray<string>) => run(["ip-allow", "check", "--project", "shop", ...args])
      assert.match(
        (yield* check(["203.0.113.7"])).stdout,
        /^allowed +yes\nrule +none: the project accepts every address$/m
      )
      yield* run(["ip-allow", "add", "203.0.113.0/24", "--project", "shop"])
      assert.match((yield* check(["203.0.113.7"])).stdout, /^allowed +yes\nrule +203\.0\.113\.0\/24$/m)
      const refused = yield* check(["--current"])
      assert.deepStrictEqual([refused.code, /^allowed +no$/m.test(refused.stdout)], [0, true])
      assert.match(refused.stderr, /^To allow it: narthex ip-allow add \S+ --project prj-\w+\n$/)
      assert.isFalse(JSON.parse((yield* check(["--current", "-o", "json"])).stdout).allowed)
      for (const wrong of [[], ["203.0.113.7", "--current"]]) assert.strictEqual((yield* check(wrong)).code, 2)
      const malformed = yield* check(["nowhere"])
      assert.deepStrictEqual([malformed.code, malformed.stdout], [1, ""])
    }).pipe(Effect.scoped)
  )
})

describe("context set-project", () => {
  it.live("context set-project gives the context a default project, and without a name takes it away", () =>
    Effect.gen(function* () {
      const { home, key, url, with: using } = yield* onControlPlane
      const bare = { NARTHEX_URL: url, NARTHEX_API_KEY: "" }
      const run = (args: ReadonlyArray<string>, stdin?: string) =>
        using("")(args, { variables: bare, ...(stdin === undefined ? {} : { stdin }) })
      assert.strictEqual((yield* run(["login", "--with-token"], key.secret ?? "")).code, 0)
      yield* run(["project", "create", "shop"])
      const set = yield* run(["context", "set-project", "shop"])
      assert.match(
        set.stdout,
        /^The default project of context "default" is shop \(prj-\w+\)\.\n$/,
        `${set.stderr}${home}`
      )
      assert.strictEqual(JSON.parse((yield* run(["branch", "list", "-o", "json"])).stdout).branches.length, 1)
      assert.strictEqual(
        JSON.parse((yield* run(["context", "list", "-o", "json"])).stdout).contexts[0].project.name,
        "shop"
      )
      assert.match((yield* run(["context", "set-project"])).stdout, /has no default project/)
      assert.strictEqual((yield* run(["branch", "list"])).code, 2)
      const withKey = yield* using(key.secret ?? "")(["context", "set-project", "shop"])
      assert.match(withKey.stderr, /^error: NARTHEX_API_KEY is set, so no context is in use\./)
    }).pipe(Effect.scoped)
  )
})

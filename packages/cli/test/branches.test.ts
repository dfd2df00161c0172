import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Yaml } from "effect/encoding"
import { eventually } from "../../../test/harness/eventually.ts"
import { onControlPlane } from "./support/onControlPlane.ts"

const onShop = Effect.gen(function* () {
  const world = yield* onControlPlane
  yield* world.run(["project", "create", "shop", "--wait"])
  const shop = (args: ReadonlyArray<string>) => world.run([...args, "--project", "shop"])
  const json = (args: ReadonlyArray<string>) =>
    Effect.map(shop([...args, "-o", "json"]), ({ stderr, stdout }) => {
      assert.isNotEmpty(stdout, stderr)
      return JSON.parse(stdout)
    })
  return { ...world, shop, json }
})

describe("branch", () => {
  it.live("branch create makes a copy with an endpoint, from the given parent, with a lifetime", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      const preview = yield* json(["branch", "create", "preview", "--wait"])
      assert.strictEqual(preview.endpoint.type, "read_write")
      assert.deepStrictEqual(
        [preview.branch.current_state, preview.operations.map(({ status }: { status: string }) => status)],
        ["ready", ["finished"]]
      )
      const child = yield* json(["branch", "create", "pr-42", "--from", "preview", "--ttl", "7d", "--no-endpoint"])
      assert.strictEqual(child.branch.parent_id, preview.branch.id)
      assert.isNull(child.endpoint)
      const lifetime = Date.parse(child.branch.expires_at) - Date.parse(child.branch.created_at)
      assert.strictEqual(lifetime, 7 * 86_400_000)
      const { code, stderr } = yield* shop(["branch", "create", "preview"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /code: conflict/)
    }).pipe(Effect.scoped)
  )

  it.live("branch list and get print tables, JSON and YAML, with the parent by its name", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      yield* json(["branch", "create", "preview", "--wait"])
      const table = (yield* shop(["branch", "list"])).stdout
      assert.match(table, /^NAME +STATE +DEFAULT +PROTECTED +PARENT +SIZE +EXPIRES +CREATED +ID\n/)
      assert.match(table, /^preview +ready +no +no +main +(?:-|33554432) +never +\S+ +br-\w+$/m)
      const listed = yield* json(["branch", "list"])
      assert.deepStrictEqual(Yaml.parse((yield* shop(["branch", "list", "-o", "yaml"])).stdout), listed)
      assert.match((yield* shop(["branch", "get", "preview"])).stdout, /^branch +br-\w+\nname +preview\n/)
      assert.strictEqual((yield* json(["branch", "get"])).branch.name, "main")
    }).pipe(Effect.scoped)
  )

  it.live(
    "branch list and get show sizes: with a unit on a terminal, in bytes elsewhere, a dash before they are known",
    () =>
      Effect.gen(function* () {
        const { json, run, shop } = yield* onShop
        const sizeOf = Effect.map(json(["branch", "get"]), ({ branch }) => branch.size_bytes)
        yield* eventually(
          "main to be measured",
          Effect.map(sizeOf, (size) => size !== null),
          { every: 500 }
        )
        const main = yield* json(["branch", "get"])
        assert.deepStrictEqual([main.branch.size_bytes, typeof main.branch.size_measured_at], [33_554_432, "string"])
        assert.match((yield* shop(["branch", "list"])).stdout, /^main +ready +yes +no +- +33554432 +never/m)
        assert.match((yield* shop(["branch", "get"])).stdout, /^size +33554432\nmeasured +20\S+Z\n/m)
        const terminal = (...args: ReadonlyArray<string>) => run([...args, "--project", "shop"], { terminal: true })
        assert.match((yield* terminal("branch", "list")).stdout, /^main +.* 33\.6 MB +never/m)
        assert.match((yield* terminal("branch", "get")).stdout, /^size +33\.6 MB \(33554432 B\)$/m)
        const made = yield* shop(["branch", "create", "preview"])
        assert.match(made.stdout, /^size +-\nmeasured +-\n/m)
      }).pipe(Effect.scoped)
  )

  it.live("branch create names the project in the command to connect as the person did", () =>
    Effect.gen(function* () {
      const { home, run } = yield* onControlPlane
      yield* run(["project", "create", "shop", "--wait"])
      const given = yield* run(["branch", "create", "preview", "--project", "shop"])
      assert.match(given.stderr, /^To connect: narthex psql shop --branch preview$/m)
      writeFileSync(join(home, ".narthex"), '{"project":"shop"}')
      const usual = yield* run(["branch", "create", "other"])
      assert.match(usual.stderr, /^To connect: narthex psql --branch other$/m)
    }).pipe(Effect.scoped)
  )

  it.live("branch rename, protect, unprotect, expire and set-default change the branch", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      yield* json(["branch", "create", "preview", "--wait"])
      assert.strictEqual((yield* json(["branch", "rename", "preview", "staging"])).branch.name, "staging")
      assert.isTrue((yield* json(["branch", "protect", "staging"])).branch.protected)
      assert.strictEqual((yield* shop(["branch", "unprotect", "staging"])).code, 2)
      assert.isFalse((yield* json(["branch", "unprotect", "staging", "--yes"])).branch.protected)
      assert.strictEqual((yield* shop(["branch", "expire", "staging", "--ttl", "7d"])).code, 2)
      assert.isNotNull((yield* json(["branch", "expire", "staging", "--ttl", "7d", "--yes"])).branch.expires_at)
      assert.isNull((yield* json(["branch", "expire", "staging", "--never"])).branch.expires_at)
      for (const wrong of [[], ["--never", "--ttl", "1d"]])
        assert.strictEqual((yield* shop(["branch", "expire", "staging", ...wrong])).code, 2)
      assert.isTrue((yield* json(["branch", "set-default", "staging", "--wait"])).branch.default)
    }).pipe(Effect.scoped)
  )

  it.live("branch reset and delete state their effect, require --yes, and wait with --wait", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      yield* json(["branch", "create", "preview", "--wait"])
      const reset = yield* shop(["branch", "reset", "preview"])
      assert.strictEqual(reset.code, 2)
      assert.match(reset.stderr, /data of the branch preview will be replaced by the present data of its parent/)
      const done = yield* shop(["branch", "reset", "preview", "--yes", "--wait"])
      assert.deepStrictEqual([done.code, /^Done after/m.test(done.stderr)], [0, true], done.stderr)
      assert.strictEqual((yield* shop(["branch", "delete", "preview"])).code, 2)
      const deleted = yield* shop(["branch", "delete", "preview", "--yes", "--wait"])
      assert.deepStrictEqual([deleted.code, deleted.stdout], [0, "The branch preview is deleted.\n"], deleted.stderr)
      const main = yield* shop(["branch", "delete", "main", "--yes"])
      assert.strictEqual(main.code, 1)
      assert.match(main.stderr, /code: conflict/)
    }).pipe(Effect.scoped)
  )
})

describe("endpoint", () => {
  it.live("an endpoint is given by its id, its host, the branch's name, or is the branch's only one", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      const { endpoints } = yield* json(["endpoint", "list"])
      const [{ host, id }] = endpoints
      for (const args of [[id], [host], ["main"], [], ["--branch", "main"]])
        assert.strictEqual((yield* json(["endpoint", "get", ...args])).endpoint.id, id)
      const created = yield* json(["endpoint", "create", "--suspend-after", "never", "--wait"])
      assert.deepStrictEqual([created.endpoint.type, created.endpoint.suspend_timeout_seconds], ["read_only", -1])
      for (const args of [["main"], []]) {
        const { code, stderr } = yield* shop(["endpoint", "get", ...args])
        assert.strictEqual(code, 1)
        for (const candidate of [id, created.endpoint.id]) assert.include(stderr, candidate)
      }
      assert.match((yield* shop(["endpoint", "get", id])).stdout, /^host +127\.0\.0\.1:5442\noptions +endpoint=ep-/m)
      assert.match(
        (yield* shop(["endpoint", "list"])).stdout,
        /^ID +BRANCH +TYPE +SIZE +STATE +DISABLED +SUSPENDS AFTER/
      )
    }).pipe(Effect.scoped)
  )

  it.live("a branch without an endpoint is refused with the command that creates one", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      const { branch } = yield* json(["branch", "create", "bare", "--no-endpoint", "--wait"])
      const { code, stderr } = yield* shop(["endpoint", "start", "--branch", "bare"])
      assert.strictEqual(code, 1)
      assert.include(stderr, `hint: narthex endpoint create --branch ${branch.id} --type read_write`)
    }).pipe(Effect.scoped)
  )

  it.live("endpoint start, suspend, set and delete change the endpoint", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      const state = Effect.map(json(["endpoint", "get"]), ({ endpoint }) => endpoint.current_state)
      assert.strictEqual((yield* shop(["endpoint", "start", "--wait"])).code, 0)
      assert.strictEqual(yield* state, "active")
      assert.match((yield* shop(["endpoint", "start", "--wait"])).stderr, /runs already/)
      assert.strictEqual((yield* shop(["endpoint", "suspend"])).code, 2)
      assert.strictEqual((yield* shop(["endpoint", "suspend", "--yes", "--wait"])).code, 0)
      assert.strictEqual(yield* state, "idle")
      assert.strictEqual(
        (yield* json(["endpoint", "set", "--suspend-after", "1h"])).endpoint.suspend_timeout_seconds,
        3600
      )
      assert.strictEqual((yield* shop(["endpoint", "set"])).code, 2)
      assert.strictEqual((yield* shop(["endpoint", "set", "--suspend-after", "900d"])).code, 2)
      assert.strictEqual((yield* shop(["endpoint", "set", "--disabled", "true"])).code, 2)
      assert.isTrue((yield* json(["endpoint", "set", "--disabled", "true", "--yes"])).endpoint.disabled)
      assert.isFalse((yield* json(["endpoint", "set", "--disabled", "false"])).endpoint.disabled)
      const { endpoint } = yield* json(["endpoint", "get"])
      assert.strictEqual((yield* shop(["endpoint", "delete", endpoint.id])).code, 2)
      assert.strictEqual((yield* shop(["endpoint", "delete", endpoint.id, "--yes", "--wait"])).code, 0)
      assert.deepStrictEqual((yield* json(["endpoint", "list"])).endpoints, [])
    }).pipe(Effect.scoped)
  )
})

describe("operation", () => {
  it.live("operation list pages with --limit and --cursor, and says that there are more", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      yield* shop(["endpoint", "start", "--wait"])
      yield* shop(["endpoint", "suspend", "--yes", "--wait"])
      const all = (yield* json(["operation", "list"])).operations
      const first = yield* shop(["operation", "list", "--limit", "2", "-o", "json"])
      const page = JSON.parse(first.stdout)
      assert.strictEqual(first.stderr, `There are more: --limit, or --cursor ${page.pagination.next_cursor}\n`)
      const rest = yield* json(["operation", "list", "--cursor", page.pagination.next_cursor])
      assert.deepStrictEqual([...page.operations, ...rest.operations], all)
      assert.match((yield* shop(["operation", "list"])).stdout, /^ID +ACTION +STATUS +TOOK +BRANCH/)
      assert.match((yield* shop(["operation", "list"])).stdout, /start_compute +finished +\d+\.\d s/)
      for (const wrong of ["0", "-1", "x"])
        assert.strictEqual((yield* shop(["operation", "list", "--limit", wrong])).code, 2)
    }).pipe(Effect.scoped)
  )

  it.live("operation list filters by status, action, branch and endpoint, by names too", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      const preview = yield* json(["branch", "create", "preview", "--wait"])
      yield* shop(["endpoint", "start", "--branch", "preview", "--wait"])
      yield* shop(["endpoint", "start", "--wait"])
      const actions = (args: ReadonlyArray<string>) =>
        Effect.map(json(["operation", "list", ...args]), ({ operations }) =>
          operations.map((it: { readonly action: string }) => it.action)
        )
      const ofPreview = ["start_compute", "create_branch"]
      assert.deepStrictEqual(yield* actions(["--branch", "preview"]), ofPreview)
      assert.deepStrictEqual(yield* actions(["-b", preview.branch.id, "--action", "create_branch"]), ["create_branch"])
      assert.deepStrictEqual(yield* actions(["--endpoint", "preview"]), ofPreview)
      assert.deepStrictEqual(yield* actions(["--endpoint", preview.endpoint.id]), ofPreview)
      const starts = ["start_compute", "start_compute"]
      assert.deepStrictEqual(yield* actions(["--action", "start_compute", "--status", "finished"]), starts)
      assert.deepStrictEqual(yield* actions(["--status", "failed"]), [])
      const none = yield* shop(["operation", "list", "--status", "failed"])
      assert.deepStrictEqual([none.code, none.stderr], [0, "No operation matches.\n"])
      const part = ["operation", "list", "--action", "start_compute", "--limit", "1"]
      const first = yield* json(part)
      const second = yield* json([...part, "--cursor", first.pagination.next_cursor])
      assert.notStrictEqual(second.operations[0].id, first.operations[0].id)
      assert.isNull(second.pagination.next_cursor)
      assert.strictEqual((yield* shop(["operation", "list", "--branch", "previw"])).code, 1)
      for (const wrong of [
        ["--status", "over"],
        ["--action", "start"]
      ]) {
        const refused = yield* shop(["operation", "list", ...wrong])
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      }
    }).pipe(Effect.scoped)
  )

  it.live("operation get and watch print the operation, and a malformed id exits with 2", () =>
    Effect.gen(function* () {
      const { json, shop } = yield* onShop
      const [{ id }] = (yield* json(["operation", "list"])).operations
      assert.match((yield* shop(["operation", "get", `${id} `])).stdout, /^action +create_timeline\nstatus +finished$/m)
      const watched = yield* json(["operation", "watch", id])
      assert.deepStrictEqual(watched.operations, [(yield* json(["operation", "get", id])).operation])
      assert.match((yield* shop(["operation", "watch"])).stderr, /^No operation is unfinished\./)
      assert.strictEqual((yield* shop(["operation", "get", ".."])).code, 2)
      const cancelled = yield* shop(["operation", "cancel", id, "--yes"])
      assert.deepStrictEqual([cancelled.code, /code: conflict/.test(cancelled.stderr)], [1, true])
    }).pipe(Effect.scoped)
  )
})

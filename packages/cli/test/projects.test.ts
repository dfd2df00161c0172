import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Yaml } from "effect/encoding"
import { onControlPlane } from "./support/onControlPlane.ts"

describe("project get and rename", () => {
  it.live("project get and rename print the project as a table, JSON and YAML", () =>
    Effect.gen(function* () {
      const { client, run } = yield* onControlPlane
      const { project } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const renamed = yield* run(["project", "rename", "shop", "store"])
      assert.match(
        renamed.stdout,
        new RegExp(`^project {9}${project.id}\nname {12}store\n(note .*\n)?region {10}local\n`)
      )
      const json = JSON.parse((yield* run(["project", "get", "store", "-o", "json"])).stdout)
      assert.strictEqual(json.project.name, "store")
      assert.deepStrictEqual(Yaml.parse((yield* run(["project", "get", "store", "-o", "yaml"])).stdout), json)
    }).pipe(Effect.scoped)
  )

  it.live("project create and set store a note, which project get prints; an empty one takes it away", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      assert.strictEqual((yield* run(["project", "create", "shop", "--note", "first"])).code, 0)
      assert.match((yield* run(["project", "get", "shop"])).stdout, /^note +first$/m)
      assert.match((yield* run(["project", "set", "shop", "--note", "second"])).stdout, /^note +second$/m)
      const cleared = yield* run(["project", "set", "shop", "--note", "", "-o", "json"])
      assert.isNull(JSON.parse(cleared.stdout).project.note)
      assert.strictEqual((yield* run(["project", "set", "shop", "--note", "x".repeat(501)])).code, 2)
    }).pipe(Effect.scoped)
  )

  it.live("a value that the API would refuse is refused with its sentence before anything is sent", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* onControlPlane
      yield* Effect.promise(() => plane.close())
      const refused = [
        [["project", "create", ""], "Expected 1 to 128 characters"],
        [["project", "create", "x".repeat(200)], "Expected 1 to 128 characters"],
        [["project", "rename", "shop", "a\u0007b"], "Expected no control characters"],
        [["branch", "create", "9 lives", "--project", "shop"], "Expected a string matching"],
        [["branch", "create", "x".repeat(64), "--project", "shop"], "Expected 1 to 63 characters"],
        [["branch", "expire", "x", "--ttl", "20y", "--project", "shop"], "Expected a duration such as"],
        [["branch", "expire", "x", "--ttl", "4000d", "--project", "shop"], "between 1 and 315360000"],
        [
          ["ip-allow", "add", "10.0.0.0/8", "--project", "shop", "--label", "x".repeat(500)],
          "Expected 0 to 256 characters"
        ]
      ] as const
      for (const [args, sentence] of refused) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" ").slice(0, 60))
        assert.include(stderr, sentence)
      }
    }).pipe(Effect.scoped)
  )
})

describe("project overview", () => {
  it.live("project overview says what is in the project, with one call", () =>
    Effect.gen(function* () {
      const { client, run } = yield* onControlPlane
      yield* run(["project", "create", "shop", "--wait"])
      const { projects } = yield* Effect.promise(() => client.projects.list({}))
      const project_id = projects[0]?.id ?? ""
      const open = yield* run(["project", "overview", "shop"])
      assert.strictEqual(open.code, 0, open.stderr)
      for (const line of [
        /^project +prj-\w+$/m,
        /^name +shop$/m,
        /^state +idle$/m,
        /^branches +1$/m,
        /^endpoints +1, 0 running$/m,
        /^allowlist +any address$/m,
        /^last operation +create_timeline finished$/m
      ])
        assert.match(open.stdout, line)
      yield* Effect.promise(() => client.ipAllow.add({ project_id, cidr: "203.0.113.0/24" }))
      const json = JSON.parse((yield* run(["project", "overview", project_id, "-o", "json"])).stdout)
      assert.hasAllKeys(json, ["project", "branches", "endpoints", "operations", "ip_allow"])
      assert.match((yield* run(["project", "overview", "shop"])).stdout, /^allowlist +1 network$/m)
    }).pipe(Effect.scoped)
  )
})

describe("project create", () => {
  it.live("project create says how to follow it and how to connect", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      const { code, stderr, stdout } = yield* run(["project", "create", "shop"])
      assert.strictEqual(code, 0)
      const id = /^project +(prj-\w+)$/m.exec(stdout)?.[1]
      assert.match(stderr, new RegExp(`^To follow: narthex operation watch [0-9a-f-]{36} --project ${id}$`, "m"))
      assert.match(stderr, /^To connect: narthex psql shop, or narthex connection-string shop$/m)
    }).pipe(Effect.scoped)
  )

  it.live("project create --wait returns when the branch is ready", () =>
    Effect.gen(function* () {
      const { client, run } = yield* onControlPlane
      const { code, stderr, stdout } = yield* run(["project", "create", "shop", "--wait", "-o", "json"])
      assert.strictEqual(code, 0, stderr)
      assert.match(stderr, /^Done after \d+\.\d s\.$/m)
      const { branch, project } = JSON.parse(stdout)
      const now = yield* Effect.promise(() => client.branches.get({ project_id: project.id, branch_id: branch.id }))
      assert.strictEqual(now.branch.current_state, "ready")
    }).pipe(Effect.scoped)
  )
})

describe("project delete", () => {
  it.live("project delete states its effect and requires --yes without a terminal", () =>
    Effect.gen(function* () {
      const { client, run } = yield* onControlPlane
      const { project } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const { code, stderr } = yield* run(["project", "delete", "shop"])
      assert.strictEqual(code, 2)
      assert.match(stderr, new RegExp(`The project shop \\(${project.id}\\) will be deleted with all its branches`))
      const asked = yield* run(["project", "delete", "shop"], { terminal: true, stdin: "no\n" })
      assert.strictEqual((yield* Effect.promise(() => client.projects.list({}))).projects.length, 1)
      assert.notStrictEqual(asked.code, 0)
      assert.strictEqual((yield* run(["project", "delete", "shop"], { terminal: true, stdin: "y\n" })).code, 0)
      assert.deepStrictEqual((yield* Effect.promise(() => client.projects.list({}))).projects, [])
    }).pipe(Effect.scoped)
  )

  it.live("project delete --wait returns when the data is removed", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      yield* run(["project", "create", "shop", "--wait"])
      const { code, stderr, stdout } = yield* run(["project", "delete", "shop", "--yes", "--wait", "-o", "json"])
      assert.deepStrictEqual([code, stderr], [0, "Its data is removed.\n"])
      assert.strictEqual(JSON.parse(stdout).operations[0].action, "delete_timeline")
    }).pipe(Effect.scoped)
  )

  it.live("project delete --wait with a key that may not follow the organization deletes nothing", () =>
    Effect.gen(function* () {
      const { client, run, with: using } = yield* onControlPlane
      yield* run(["project", "create", "shop", "--wait"])
      const { projects } = yield* Effect.promise(() => client.projects.list({}))
      const scope = `project:${projects[0]?.id}` as const
      const { secret } = yield* Effect.promise(() => client.apiKeys.create({ name: "narrow", scope }))
      const refused = yield* using(secret ?? "")(["project", "delete", "shop", "--yes", "--wait"])
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, "scope_insufficient")
      assert.strictEqual((yield* run(["project", "get", "shop"])).code, 0)
    }).pipe(Effect.scoped)
  )
})

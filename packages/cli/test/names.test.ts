import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onControlPlane } from "./support/onControlPlane.ts"
import { withShop } from "./support/signedIn.ts"

describe("names", () => {
  it.live("a project is given by its name or its id, and an ambiguous name is refused with the ids", () =>
    Effect.gen(function* () {
      const { client, run } = yield* onControlPlane
      const { project } = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      for (const name of ["shop", project.id, "shop ", ` ${project.id}\n`]) {
        const { code, stdout } = yield* run(["project", "get", name, "-o", "json"])
        assert.deepStrictEqual([code, JSON.parse(stdout).project.id], [0, project.id])
      }
      const second = yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      const { code, stderr, stdout } = yield* run(["project", "delete", "shop", "--yes"])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: Several projects are called "shop": prj-/)
      for (const id of [project.id, second.project.id]) assert.include(stderr, id)
      assert.strictEqual((yield* Effect.promise(() => client.projects.list({}))).projects.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("an unknown name exits with 1 and suggests similar ones", () =>
    Effect.gen(function* () {
      const { client, run } = yield* onControlPlane
      yield* Effect.promise(() => client.projects.create({ name: "shop" }))
      assert.deepStrictEqual(yield* run(["branch", "list", "--project", "shpo"]), {
        code: 1,
        stdout: "",
        stderr: 'error: There is no project "shpo". Did you mean "shop"?\n  hint: narthex project list\n'
      })
      const branch = yield* run(["branch", "get", "mian", "--project", "shop"])
      assert.match(branch.stderr, /^error: There is no branch "mian"\. Did you mean "main"\?/)
    }).pipe(Effect.scoped)
  )

  it.live("the project is the first of --project, NARTHEX_PROJECT, the .narthex file and the context's", () =>
    Effect.gen(function* () {
      const { client, home, run } = yield* onControlPlane
      for (const name of ["one", "two", "three"]) yield* Effect.promise(() => client.projects.create({ name }))
      const work = join(home, "work", "inner")
      mkdirSync(work, { recursive: true })
      const chosen = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
        Effect.map(
          run(["project", "get", "-o", "json", ...args], { workingFolder: work, variables }),
          ({ stderr, stdout }) => (stdout === "" ? JSON.parse(stderr).detail : JSON.parse(stdout).project.name)
        )
      assert.match(yield* chosen([]), /No project is given/)
      writeFileSync(join(home, "work", ".narthex"), '{"project":"three"}')
      assert.strictEqual(yield* chosen([]), "three")
      assert.strictEqual(yield* chosen([], { NARTHEX_PROJECT: "two" }), "two")
      assert.strictEqual(yield* chosen(["one"], { NARTHEX_PROJECT: "two" }), "one")
      assert.match(yield* chosen([], { NARTHEX_PROJECT: "four" }), /no project "four" \(from NARTHEX_PROJECT\)/)
      writeFileSync(join(work, ".narthex"), "shop")
      assert.match(yield* chosen([]), /is not a project file/)
    }).pipe(Effect.scoped)
  )

  it.live("the branch of the .narthex file counts with its project only", () =>
    Effect.gen(function* () {
      const { client, home, run } = yield* onControlPlane
      for (const name of ["one", "two"]) {
        const { project } = yield* Effect.promise(() => client.projects.create({ name }))
        yield* Effect.promise(() => client.branches.create({ project_id: project.id, name: "preview" }))
      }
      writeFileSync(join(home, ".narthex"), '{"project":"one","branch":"preview"}')
      const name = (args: ReadonlyArray<string>) =>
        Effect.map(run(["branch", "get", "-o", "json", ...args]), ({ stdout }) => JSON.parse(stdout).branch.name)
      assert.strictEqual(yield* name([]), "preview")
      assert.strictEqual(yield* name(["main"]), "main")
      assert.strictEqual(yield* name(["--project", "two"]), "main")
    }).pipe(Effect.scoped)
  )

  it.live("a search for a name ends after twenty pages, and then refuses even a name that it has found", () =>
    Effect.gen(function* () {
      const { plane, project, run } = yield* withShop()
      let pages = 0
      plane.instead = ({ path }) => {
        if (path !== "/v1/projects") return undefined
        pages += 1
        const projects = Array.from({ length: 1000 }, (_, index) => ({
          ...project,
          id: `prj-${pages}-${index}`,
          name: pages === 1 && index === 0 ? "shop" : "other"
        }))
        return Response.json({ projects, pagination: { next_cursor: String(pages) } })
      }
      const { code, stderr } = yield* run(["project", "get", "shop"])
      assert.deepStrictEqual([code, pages], [1, 20])
      assert.match(
        stderr,
        /^error: There are too many projects to look for the name "shop"\.\n {2}hint: name the project by/
      )
    }).pipe(Effect.scoped)
  )

  it.live("the beginning of an id, and the form of a narrow table, stand for the only id that fits", () =>
    Effect.gen(function* () {
      const { branch, endpoint, key, operation, run, shop } = yield* withShop()
      const cases = [
        [["operation", "get"], operation.id],
        [["branch", "get"], branch.id],
        [["endpoint", "get"], endpoint.id],
        [["project", "get"], shop],
        [["api-key", "get"], key.id]
      ] as const
      for (const [command, id] of cases)
        for (const short of [id.slice(0, -2), `${id.slice(0, 7)}…${id.slice(-6)}`]) {
          const { code, stdout } = yield* run([
            ...command,
            short,
            ...(["project", "api-key"].includes(command[0]) ? [] : ["--project", shop]),
            "--jq",
            "[.. | .id? // empty | strings] | first"
          ])
          assert.deepStrictEqual([code, stdout.trim()], [0, id], `${command.join(" ")} ${short}`)
        }
    }).pipe(Effect.scoped)
  )

  it.live("a shortened id that fits several operations is refused with the candidates", () =>
    Effect.gen(function* () {
      const { client, operation, run, shop } = yield* withShop()
      const more = yield* Effect.promise(() => client.branches.create({ project_id: shop, name: "preview" }))
      const [other] = more.operations
      const { code, stderr, stdout } = yield* run([
        "operation",
        "cancel",
        operation.id.slice(0, 5),
        "--yes",
        "-p",
        shop
      ])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: Several operations have an id that fits "[0-9a-f]{5}": [0-9a-f]{8}-/)
      for (const id of [operation.id, other?.id]) assert.include(stderr, id ?? "no operation")
      const unknown = yield* run(["operation", "get", "ffff", "--project", shop])
      assert.match(unknown.stderr, /^error: There is no operation "ffff"/)
      assert.deepStrictEqual([(yield* run(["operation", "get", "later"])).code], [2])
    }).pipe(Effect.scoped)
  )

  it.live("lists of operations and endpoints name the branch, and their JSON has its id", () =>
    Effect.gen(function* () {
      const { branch, plane, run, shop } = yield* withShop()
      for (const kind of ["operation", "endpoint"]) {
        const { stdout } = yield* run([kind, "list", "--project", shop])
        assert.match(stdout, / main {2}/)
        assert.notInclude(stdout, branch.id)
        plane.requests.length = 0
        const json = yield* run([kind, "list", "--project", shop, "-o", "json"])
        assert.include(json.stdout, branch.id)
        assert.lengthOf(plane.requests, 1)
      }
    }).pipe(Effect.scoped)
  )
})

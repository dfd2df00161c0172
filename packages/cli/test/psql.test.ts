import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually, within } from "../../../test/harness/eventually.ts"
import { onControlPlane } from "./support/onControlPlane.ts"
import { withShop } from "./support/signedIn.ts"

/** A folder with a program of this name. */
const programIn = (home: string, script: string) => {
  const bin = join(home, "bin")
  mkdirSync(bin)
  const program = join(bin, "psql")
  writeFileSync(program, `#!/bin/sh\n${script}\n`)
  chmodSync(program, 0o755)
  return bin
}

/** A psql that records its arguments and its password, and then ends as `end` says. */
const withPsql = (end: string) =>
  Effect.gen(function* () {
    const world = yield* onControlPlane
    const file = join(world.home, "started")
    const bin = programIn(world.home, `printf '%s\\n' "$PGPASSWORD" "$@" > "$RECORD"\n${end}`)
    yield* world.run(["project", "create", "shop", "--wait"])
    const { projects } = yield* Effect.promise(() => world.client.projects.list({}))
    const project = projects[0]
    if (project === undefined) return yield* Effect.die("no project")
    const credentials = Effect.promise(async () => {
      const path = { project_id: project.id, branch_id: project.default_branch_id }
      return (await world.client.branches.credentials(path)).credentials
    })
    const variables = { PATH: `${bin}:/usr/bin:/bin`, RECORD: file }
    return {
      ...world,
      credentials,
      psql: (args: ReadonlyArray<string>) => world.run(["psql", ...args], { variables }),
      started: () => {
        const [password = "", uri = "", ...args] = readFileSync(file, "utf8").trimEnd().split("\n")
        return { password, uri, args }
      }
    }
  })

describe("psql", () => {
  it.live("psql has the password in its environment alone, and the connection and further options as arguments", () =>
    Effect.gen(function* () {
      const { psql, started } = yield* withPsql("exit 0")
      const { code, stderr, stdout } = yield* psql(["shop", "-c", "select 1", "-c", "select 2", "--", "--csv"])
      assert.deepStrictEqual([code, stdout], [0, ""], stderr)
      const { args, password, uri } = started()
      assert.isNotEmpty(password)
      assert.notInclude(uri, password)
      assert.match(uri, /^postgresql:\/\/role_\w+@127\.0\.0\.1:5442\/postgres\?options=endpoint%3Dep-\w+$/)
      assert.deepStrictEqual(args, ["-c", "select 1", "-c", "select 2", "--csv"])
    }).pipe(Effect.scoped)
  )

  it.live("psql gets no variable that leads its connection elsewhere, and keeps the others", () =>
    Effect.gen(function* () {
      const { home, run } = yield* withPsql('env > "$RECORD"')
      const inherited = { PGHOSTADDR: "203.0.113.1", PGSERVICE: "other", PGSSLMODE: "disable", PGUSER: "eve" }
      const variables = { PATH: `${join(home, "bin")}:/usr/bin:/bin`, RECORD: join(home, "started") }
      yield* run(["psql", "shop"], { variables: { ...variables, ...inherited, PGAPPNAME: "report", PSQLRC: "/x" } })
      const environment = readFileSync(join(home, "started"), "utf8")
      const names = [...environment.matchAll(/^(PG\w+|PSQLRC)=/gm)].map(([, name]) => name)
      assert.deepStrictEqual(names.toSorted(), ["PGAPPNAME", "PGPASSWORD", "PSQLRC"])
    }).pipe(Effect.scoped)
  )

  it.live("psql's exit code is that of narthex, also after a signal, and the credential is revoked", () =>
    Effect.gen(function* () {
      for (const [end, expected] of [
        ["exit 3", 3],
        ["kill -TERM $$", 143]
      ] as const) {
        const { credentials, psql, started } = yield* withPsql(end)
        const { code, stderr } = yield* psql(["--project", "shop", "--", "-X"])
        assert.deepStrictEqual([code, stderr, started().args], [expected, "", ["-X"]])
        assert.deepStrictEqual(
          (yield* credentials).filter(({ state }) => state !== "ending"),
          []
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("interrupting psql before it has a credential ends it at once", () =>
    Effect.gen(function* () {
      const { branch, plane, run, setting, shop } = yield* withShop()
      const path = `/v1/projects/${shop}/branches/${branch.id}/credentials`
      plane.instead = (asked) => (asked.path === path ? "silence" : undefined)
      const variables = { ...setting.variables, PATH: programIn(setting.home, "exit 0") }
      const args = ["psql", "--project", shop, "--branch", branch.id]
      const running = yield* Effect.forkChild(run(args, { variables }))
      yield* eventually(
        "the credential to be asked for",
        Effect.sync(() => plane.requests.some((request) => request.path === path))
      )
      yield* Effect.promise(() => within("the command to end", Effect.runPromise(Fiber.interrupt(running))))
    }).pipe(Effect.scoped)
  )

  it.live("without psql nothing is minted, and the command says what to install", () =>
    Effect.gen(function* () {
      const { credentials, run } = yield* withPsql("exit 0")
      for (const path of ["/nowhere", "", "."]) {
        const { code, stderr } = yield* run(["psql", "shop"], { variables: { PATH: path } })
        assert.strictEqual(code, 1)
        assert.match(
          stderr,
          /^error: psql is not installed.*\n {2}hint: install it \(Debian: apt install postgresql-client;/
        )
      }
      assert.deepStrictEqual(yield* credentials, [])
    }).pipe(Effect.scoped)
  )
})

describe("connection-string", () => {
  it.live("connection-string prints the string alone on stdout, and the response as JSON", () =>
    Effect.gen(function* () {
      const { run } = yield* withPsql("exit 0")
      const { code, stderr, stdout } = yield* run(["connection-string", "--project", "shop"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^postgresql:\/\/role_\w+:[^@]+@127\.0\.0\.1:5442\/postgres\?options=endpoint%3Dep-\w+\n$/)
      assert.match(
        stderr,
        /^It contains the password of the new role role_\w+, which is valid until it is revoked\.\n$/
      )
      const json = yield* run([
        "connection-string",
        "--project",
        "shop",
        "--access",
        "read_only",
        "--ttl",
        "1h",
        "-o",
        "json"
      ])
      const { credential, connection_uri, password } = JSON.parse(json.stdout)
      assert.strictEqual(credential.access, "read_only")
      assert.include(connection_uri, password)
      const lifetime = Date.parse(credential.expires_at) - Date.parse(credential.created_at)
      assert.strictEqual(lifetime, 3_600_000)
    }).pipe(Effect.scoped)
  )

  it.live("connection-string takes the project by name or as a flag, and the name first, as psql does", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      yield* run(["project", "create", "shop", "--wait"])
      for (const args of [["shop"], ["--project", "shop"], ["shop", "--project", "nope"]]) {
        const { code, stdout } = yield* run(["connection-string", ...args])
        assert.deepStrictEqual([code, stdout.startsWith("postgresql://")], [0, true], args.join(" "))
      }
    }).pipe(Effect.scoped)
  )

  it.live("connection-string of a branch without an endpoint is the API's conflict", () =>
    Effect.gen(function* () {
      const { run } = yield* withPsql("exit 0")
      yield* run(["branch", "create", "bare", "--no-endpoint", "--project", "shop", "--wait"])
      const { code, stderr, stdout } = yield* run(["connection-string", "--project", "shop", "--branch", "bare"])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /code: conflict/)
    }).pipe(Effect.scoped)
  )
})

describe("credential create", () => {
  it.live("credential create shows the parts of the connection, and credential list and revoke know the role", () =>
    Effect.gen(function* () {
      const { run } = yield* withPsql("exit 0")
      const created = yield* run(["credential", "create", "--project", "shop"])
      assert.strictEqual(created.code, 0)
      const role = /^role +(role_\w+)$/m.exec(created.stdout)?.[1] ?? ""
      assert.match(
        created.stdout,
        /^host +127\.0\.0\.1:5442\ndatabase +postgres\naccess +read_write\nexpires +never\nuri +postgresql:/m
      )
      assert.include((yield* run(["credential", "list", "--project", "shop"])).stdout, role)
      assert.strictEqual((yield* run(["credential", "revoke", role, "--project", "shop", "--yes"])).code, 0)
    }).pipe(Effect.scoped)
  )
})

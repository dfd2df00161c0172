import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { environmentTable } from "../src/environment/environmentTable.ts"
import { exitCodes } from "../src/failures/exitCodes.ts"
import { freshHome, runNarthex, type Setting } from "./support/runNarthex.ts"

const run = (args: ReadonlyArray<string>, setting: Partial<Setting> = {}) =>
  Effect.scoped(Effect.flatMap(freshHome, (home) => runNarthex(args, { home, ...setting })))

describe("usage", () => {
  it.live("a command group without a subcommand prints help on stdout and exits with 0", () =>
    Effect.gen(function* () {
      for (const args of [[], ["project"], ["help"], ["--help"], ["project", "create", "--help"]]) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stderr], [0, ""], args.join(" "))
        assert.include(stdout, "USAGE")
      }
    })
  )

  it.live("invalid usage prints an error on stderr and exits with 2", () =>
    Effect.gen(function* () {
      const wrong = [
        ["projct"],
        ["project", "lst"],
        ["project", "create"],
        ["project", "list", "--limt", "5"],
        ["project", "list", "extra"],
        ["-o", "xml", "project", "list"],
        ["--context", "a/b", "whoami"],
        ["login", "--name", ""],
        ["--wizard"]
      ]
      for (const args of wrong) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
        assert.match(stderr, /Usage: narthex/)
        assert.match(stderr, /--help` for more\.\n$/)
      }
    })
  )

  it.live("an invalid variable is a usage error of the commands that need it", () =>
    Effect.gen(function* () {
      for (const url of ["ftp://x", "http://user:password@x", "nonsense", "http://x?y"]) {
        const { code, stderr } = yield* run(["whoami"], { variables: { NARTHEX_URL: url, NARTHEX_API_KEY: "k" } })
        assert.strictEqual(code, 2)
        assert.match(stderr, /error: NARTHEX_URL is not a valid server URL\./)
      }
      assert.strictEqual((yield* run(["help", "environment"], { variables: { NARTHEX_URL: "ftp://x" } })).code, 0)
    })
  )

  it.live("every command has a description and an example", () =>
    Effect.gen(function* () {
      const nouns = [
        "project",
        "branch",
        "endpoint",
        "operation",
        "sandbox",
        "region",
        "ip-allow",
        "api-key",
        "credential",
        "events",
        "org",
        "member",
        "invitation",
        "session",
        "context"
      ]
      const verbs = ["login", "logout", "whoami", "api", "psql", "connection-string"].map((verb) => [verb])
      for (const noun of nouns) {
        const { stdout } = yield* run([noun, "--help"])
        const listed = stdout.slice(stdout.indexOf("SUBCOMMANDS")).matchAll(/^ {2}([a-z-]+) {2,}\S/gm)
        for (const [, verb = ""] of listed) verbs.push([noun, verb])
      }
      assert.strictEqual(verbs.length, 6 + 5 + 10 + 7 + 4 + 1 + 1 + 5 + 5 + 3 + 2 + 7 + 4 + 6 + 2 + 4)
      for (const verb of verbs) {
        const { stdout } = yield* run([...verb, "--help"])
        assert.match(stdout, /DESCRIPTION\n {2}\S/, verb.join(" "))
        assert.include(stdout, `narthex ${verb.join(" ")}`)
        assert.include(stdout, "EXAMPLES")
      }
    })
  )

  it.live("help topics print the tables of the code", () =>
    Effect.gen(function* () {
      const environment = yield* run(["help", "environment"])
      for (const { name } of environmentTable) assert.include(environment.stdout, name)
      const exits = yield* run(["help", "exit-codes"])
      for (const { code, meaning } of Object.values(exitCodes))
        assert.match(exits.stdout, new RegExp(`^${code} +${meaning}`, "m"))
      assert.include((yield* run(["help", "formatting"])).stdout, "table|json|yaml")
    })
  )

  it.live("--completions supports every shell", () =>
    Effect.gen(function* () {
      for (const shell of ["bash", "zsh", "fish", "powershell"]) {
        const { code, stderr, stdout } = yield* run(["--completions", shell])
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.include(stdout, "ip-allow")
      }
    })
  )
})

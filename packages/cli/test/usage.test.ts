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
        assert.match(stderr, /^error: \S.*[.]\n {2}hint: .*narthex.* --help shows the usage\n$/, args.join(" "))
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
      const versioned = { NARTHEX_URL: "http://x/v1/", NARTHEX_API_KEY: "k" }
      const { code, stderr } = yield* run(["whoami"], { variables: versioned })
      assert.strictEqual(code, 2)
      assert.match(stderr, /error: NARTHEX_URL ends with \/v1, which the calls add\.\n {2}hint: leave out \/v1/)
      assert.strictEqual((yield* run(["help", "environment"], { variables: { NARTHEX_URL: "ftp://x" } })).code, 0)
    })
  )

  it.live("a usage error suggests what was meant", () =>
    Effect.gen(function* () {
      for (const [args, expected] of [
        [
          ["ip-allow", "ad"],
          /narthex ip-allow has no command "ad"\.\n {2}hint: did you mean add\? narthex ip-allow --help/
        ],
        [
          ["project", "create", "shop", "--regin", "eu"],
          /narthex project create has no flag --regin\.\n.*did you mean --region\?/
        ],
        [["project", "create"], /error: <name> is missing\.\n/],
        [
          ["ip-allow", "add", "10.0.0.0/8", "--project", "prj-01hzx0000000000000000000aa", "--ttl", "soon"],
          /error: --ttl cannot be "soon"\. Expected a duration/
        ],
        [["project", "list", "-o", "xml"], /error: --output cannot be "xml"\. Expected .*table.*json.*yaml/]
      ] as const)
        assert.match((yield* run(args)).stderr, expected)
    })
  )

  it.live("a usage error with -o json or --json is one line of JSON with its code", () =>
    Effect.gen(function* () {
      for (const args of [
        ["ip-allow", "ad", "-o", "json"],
        ["-o", "json", "ip-allow", "ad"],
        ["--output=json", "ip-allow", "ad"],
        ["ip-allow", "ad", "--json", "cidr"]
      ]) {
        const { code, stderr, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
        assert.deepStrictEqual(JSON.parse(stderr), {
          code: "usage",
          detail: 'narthex ip-allow has no command "ad".',
          hint: "did you mean add? narthex ip-allow --help shows the usage"
        })
        assert.strictEqual(stderr.trimEnd().split("\n").length, 1)
      }
      const words = yield* run(["ip-allow", "ad", "--", "-o", "json"])
      assert.match(words.stderr, /^error: /)
    })
  )

  it.live("the help of a flag that can be repeated does not say that it is required", () =>
    Effect.gen(function* () {
      for (const args of [["psql"], ["events", "tail"]]) {
        const { stdout } = yield* run([...args, "--help"])
        assert.include(stdout, "can be repeated")
        assert.notInclude(stdout, "required")
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
})

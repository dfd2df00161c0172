import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { narthex } from "@narthex/cli"
import { Duration, Effect } from "effect"
import { Completions } from "effect/cli"
import { globalFlags } from "../src/completion/globalFlags.ts"
import { planCompletion } from "../src/completion/planCompletion.ts"
import { candidateLines, scripts, shells, wordsFrom } from "../src/completion/scripts.ts"
import { freshHome, runNarthex } from "./support/runNarthex.ts"
import { withShop } from "./support/signedIn.ts"

const tree = Completions.fromCommand(narthex)
const plan = (...words: ReadonlyArray<string>) => planCompletion(tree, globalFlags, words)
const values = (...words: ReadonlyArray<string>) => {
  const planned = plan(...words)
  return planned._tag === "Words" ? planned.candidates.map(({ value }) => value) : [`<${planned.kind}>`]
}

describe("what completion offers", () => {
  it("commands and their subcommands", () => {
    assert.include(values(""), "project")
    assert.deepStrictEqual(values("ip-a"), ["ip-allow"])
    assert.include(values("project", ""), "create")
    assert.deepStrictEqual(values("-o", "json", "project", "cr"), ["create"])
  })

  it("flags of the command and of every command", () => {
    assert.include(values("project", "create", "--"), "--region")
    assert.deepStrictEqual(values("project", "create", "--outp"), ["--output"])
  })

  it("values of a flag, in a word of their own and after an equals sign, also as bash splits it", () => {
    assert.deepStrictEqual(values("project", "list", "-o", ""), ["table", "json", "yaml"])
    assert.deepStrictEqual(values("project", "list", "--output=j"), ["--output=json"])
    assert.deepStrictEqual(values("project", "list", "--output", "=", "j"), ["json"])
    assert.deepStrictEqual(values("project", "list", "--output", "="), ["table", "json", "yaml"])
  })

  it("names for flags and arguments that take one, with the project and context of the line", () => {
    assert.deepInclude(plan("ip-allow", "list", "--project=sh"), { kind: "project", typed: "sh", before: "--project=" })
    assert.deepInclude(plan("branch", "get", "-p", "shop", "--context", "acme", "ma"), {
      kind: "branch",
      typed: "ma",
      project: "shop",
      context: "acme"
    })
    assert.deepStrictEqual(values("context", "use", ""), ["<context>"])
    assert.deepStrictEqual(values("--context", ""), ["<context>"])
    assert.deepStrictEqual(values("project", "create", ""), [])
    assert.deepStrictEqual(values("psql", "--", "-c"), [])
  })

  it.live("the flags of every command are those of the help", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const { stdout } = yield* runNarthex(["--help"], { home })
      const listed = [...stdout.slice(stdout.indexOf("GLOBAL FLAGS")).matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)]
      assert.sameMembers(
        globalFlags.map(({ name }) => name),
        listed.map(([, name]) => name)
      )
      assert.deepStrictEqual(globalFlags.find(({ name }) => name === "output")?.aliases, ["o"])
    }).pipe(Effect.scoped)
  )
})

describe("narthex __complete", () => {
  it.live("names come from the server, and for a minute from the cache", () =>
    Effect.gen(function* () {
      const { client, plane, run, setting, shop } = yield* withShop()
      yield* Effect.promise(() => client.projects.create({ name: "other" }))
      const complete = () => run(["__complete", "zsh", "ip-allow", "list", "--project", "sh"])
      const expected = { code: 0, stdout: `shop\t${shop}\n`, stderr: "" }
      assert.deepStrictEqual(yield* complete(), expected)
      plane.requests.length = 0
      plane.instead = () => new Response(null, { status: 500 })
      assert.deepStrictEqual(yield* complete(), expected)
      assert.deepStrictEqual(plane.requests, [])
      const cache = join(setting.home, ".cache", "narthex", "names")
      for (const file of readdirSync(cache)) assert.notInclude(readFileSync(join(cache, file), "utf8"), "nsk_")
    }).pipe(Effect.scoped)
  )

  it.live("older names are offered while the server does not answer, and none without any", () =>
    Effect.gen(function* () {
      const { plane, run, setting, shop } = yield* withShop()
      const words = ["__complete", "fish", "open", ""]
      const first = yield* run(words)
      assert.strictEqual(first.stdout, `shop\t${shop}\n`)
      const cache = join(setting.home, ".cache", "narthex", "names")
      for (const file of readdirSync(cache)) {
        const { names } = JSON.parse(readFileSync(join(cache, file), "utf8"))
        writeFileSync(join(cache, file), JSON.stringify({ at: Date.now() - 600_000, names }))
      }
      plane.instead = () => "silence"
      const complete = run(words, { completionPatience: Duration.millis(50) })
      assert.deepStrictEqual(yield* complete, first)
      rmSync(cache, { recursive: true })
      assert.deepStrictEqual(yield* complete, { code: 0, stdout: "", stderr: "" })
    }).pipe(Effect.scoped)
  )

  it.live("nothing is printed without a credential, for an unknown shell, and for a broken credentials file", () =>
    Effect.gen(function* () {
      const { file, run } = yield* withShop()
      assert.deepStrictEqual(yield* run(["__complete", "tcsh", ""]), { code: 0, stdout: "", stderr: "" })
      assert.deepStrictEqual(yield* run(["__complete"]), { code: 0, stdout: "", stderr: "" })
      writeFileSync(file, "{")
      assert.deepStrictEqual(yield* run(["__complete", "bash", "context", "use", ""]), {
        code: 0,
        stdout: "",
        stderr: ""
      })
      rmSync(file)
      assert.deepStrictEqual(yield* run(["__complete", "bash", "open", ""]), { code: 0, stdout: "", stderr: "" })
    }).pipe(Effect.scoped)
  )

  it("names are quoted for the shells that do not quote them, and control characters are dropped", () => {
    const odd = [{ value: "it's $(a)\u001b", description: "a\nb" }]
    assert.strictEqual(candidateLines("bash", odd), "it\\'s\\ \\$\\(a\\)\ta b")
    assert.strictEqual(candidateLines("bash", odd, "'it"), "it'\\''s $(a)\ta b")
    assert.strictEqual(candidateLines("bash", odd, 'x"it'), "it's \\$(a)\ta b")
    assert.strictEqual(candidateLines("powershell", odd), "'it''s $(a)'\ta b")
    assert.strictEqual(candidateLines("zsh", odd), "it's $(a)\ta b")
  })
})

describe("the words of a line", () => {
  it("words of bash lose their quotes and backslashes, those of other shells are whole already", () => {
    const typed = ["'a b'c", '"a $b\\" \\c', "a\\ b\\", "--project='my sh", '""']
    assert.deepStrictEqual(wordsFrom("bash", typed), ["a bc", 'a $b" \\c', "a b", "--project=my sh", ""])
    assert.deepStrictEqual(wordsFrom("zsh", typed), typed)
  })
})

describe("narthex completion", () => {
  it.live("a script for each shell", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      for (const shell of shells)
        assert.deepStrictEqual(yield* runNarthex(["completion", shell], { home }), {
          code: 0,
          stdout: `${scripts[shell]}\n`,
          stderr: ""
        })
      assert.strictEqual((yield* runNarthex(["completion", "tcsh"], { home })).code, 2)
    }).pipe(Effect.scoped)
  )

  it("bash completes with its script: the words of the line go to narthex, and its errors stay away", () => {
    const folder = mkdtempSync(join(tmpdir(), "narthex-complete-"))
    try {
      const fake =
        '#!/bin/sh\necho "trouble" >&2\nfor word; do printf "%s|" "$word" >>"$0.words"; done\nprintf "my\\\\\\\\ shop\\tid\\nother\\t\\n"\n'
      writeFileSync(join(folder, "narthex"), fake, { mode: 0o755 })
      writeFileSync(join(folder, "script"), scripts.bash)
      const driver = `source '${folder}/script'; COMP_WORDS=(narthex open ''); COMP_CWORD=2; COMP_LINE='narthex open '; _narthex; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stderr, stdout } = spawnSync("bash", ["--norc", "-c", driver], {
        env: { PATH: `${folder}:${process.env["PATH"]}`, SHLVL: "1" },
        encoding: "utf8"
      })
      assert.deepStrictEqual([stdout, stderr], ["my\\ shop\nother\n", ""])
      assert.strictEqual(readFileSync(join(folder, "narthex.words"), "utf8"), "__complete|bash|open||")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

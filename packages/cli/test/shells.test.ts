/** The completion scripts in the shells that they are for, on a terminal. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { keys, Terminal } from "../../../test/support/Terminal.ts"
import { scripts } from "../src/completion/scripts.ts"

/** Says something on standard error, keeps the words that it gets, and has two candidates. */
const fake = `#!/bin/sh
echo "trouble" >&2
for word; do printf '%s|' "$word" >>"$0.words"; done
printf 'my shop\\tid: of it\\nother\\t\\n'
`

describe("completion on a terminal", { tags: ["terminal"] }, () => {
  let folder: string
  let terminal: Terminal | undefined

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "narthex-complete-"))
    writeFileSync(join(folder, "narthex"), fake, { mode: 0o755 })
  })

  afterEach(async () => {
    await terminal?.close()
    terminal = undefined
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts the shell, loads the script with `load`, and types a line with Tab at its end. */
  const completed = async (words: ReadonlyArray<string>, load: string, shown: RegExp) => {
    const environment = { HOME: folder, PATH: `${folder}:${process.env["PATH"]}`, PROMPT: "", RPROMPT: "" }
    terminal = await Terminal.run(words, { cwd: folder, columns: 120, environment })
    terminal.enter(`${load}; echo loa''ded`)
    await terminal.shows(/^loaded$/m)
    terminal.type(`narthex open my${keys.tab}`)
    await terminal.shows(shown)
    assert.notMatch(terminal.text, /trouble/)
    return readFileSync(join(folder, "narthex.words"), "utf8")
  }

  it("bash completes a word with a colon, an equals sign, a quote or a backslash in it", async () => {
    const program = join(import.meta.dirname, "support", "fakeCompletion.ts")
    const call = `exec '${process.execPath}' --conditions=source '${program}' "$@"`
    writeFileSync(join(folder, "narthex"), `#!/bin/sh\n${call}\n`, { mode: 0o755 })
    writeFileSync(join(folder, "script"), scripts.bash)
    const environment = { HOME: folder, PATH: `${folder}:${process.env["PATH"]}`, PS1: "" }
    terminal = await Terminal.run(["bash", "--norc", "-i"], { cwd: folder, columns: 120, environment })
    terminal.enter(`PS1='ready> '; source '${join(folder, "script")}'; echo loa''ded`)
    await terminal.shows(/^loaded$/m)
    for (const [typed, shown] of [
      ["open team:sh", /^ready> narthex open team:shop x$/m],
      ["get team:", /^ready> narthex get team:shop x$/m],
      ["list --output=js", /^ready> narthex list --output=json x$/m],
      ["get --output=", /^ready> narthex get --output=json x$/m],
      ["open 'my sh", /^ready> narthex open 'my shop' x$/m],
      ['open "my sh', /^ready> narthex open "my shop" x$/m],
      ["open my\\ sh", /^ready> narthex open my\\ shop x$/m],
      ["get my", /^ready> narthex get my\\ shop x$/m]
    ] as const) {
      // Bash reads keys as they are typed from its prompt on. Before, the terminal itself shows them.
      terminal.enter("clear")
      await terminal.shows(/^ready>\s*$/)
      terminal.type(`narthex ${typed}${keys.tab}x`)
      await terminal.shows(shown)
      terminal.type(keys.ctrlC)
      await terminal.shows(/x\^C$/m)
    }
  })

  it("zsh completes a name with its script, and quotes it", { tags: ["zsh"] }, async () => {
    writeFileSync(join(folder, "script"), scripts.zsh)
    const load = `autoload -Uz compinit; compinit -u -D; source '${join(folder, "script")}'`
    const words = await completed(["zsh", "-f", "-i"], load, /narthex open my\\ shop$/m)
    assert.strictEqual(words, "__complete|zsh|open|my|")
  })

  it("fish completes a name with its script, and quotes it", { tags: ["fish"] }, async () => {
    writeFileSync(join(folder, "script"), scripts.fish)
    const words = await completed(
      ["fish", "--no-config", "--private", "--interactive"],
      `source '${join(folder, "script")}'`,
      /narthex open (?:my\\ shop|'my shop')$/m
    )
    assert.strictEqual(words, "__complete|fish|open|my|")
  })
})

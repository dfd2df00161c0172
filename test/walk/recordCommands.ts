/**
 * Records which commands a shell block runs, with their arguments as bash expands them. Only bash runs: no program is
 * on the path, and bash's handler for unknown commands records each.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export type Command = ReadonlyArray<string>

/** An id that the command line accepts. */
export const projectId = "prj-01m817dxvynfbbfkmmf5qqq4wd"

/** Bash looks up a name with a slash as a file, so such a command is recorded by a function of that name. */
const recorder = [
  'command_not_found_handle() { printf "%s\\0" "$#" "$@" >> "$RECORDED"; }',
  'node_modules/.bin/node() { command_not_found_handle node "$@"; }',
  // An earlier block of the page has defined this variable.
  `project=${projectId}`,
  'source "$BLOCK"'
].join("\n")

const parse = (recorded: string): ReadonlyArray<Command> => {
  const words = recorded.split("\0").slice(0, -1)
  const commands: Array<Command> = []
  while (words.length > 0) commands.push(words.splice(0, Number(words.shift())))
  return commands
}

/** Fails with bash's message if the block is not bash. */
export const recordCommands = (block: string): ReadonlyArray<Command> => {
  const folder = mkdtempSync(join(tmpdir(), "narthex-block-"))
  const [recorded, file] = [join(folder, "recorded"), join(folder, "block.sh")]
  try {
    writeFileSync(recorded, "")
    writeFileSync(file, block)
    // fish makes this folder when it first runs.
    mkdirSync(join(folder, ".config/fish/completions"), { recursive: true })
    // A file that the reader has: bash would not run a command whose input is missing.
    for (const [, name = ""] of block.matchAll(/\s<\s*([\w.-]+)/g)) writeFileSync(join(folder, name), "")
    const checked = spawnSync("bash", ["-n", file], { encoding: "utf8" })
    if (checked.status !== 0) throw new Error(`It is not bash: ${checked.stderr}`)
    const { error } = spawnSync("/bin/bash", ["--noprofile", "--norc", "-c", recorder], {
      cwd: folder,
      env: { PATH: join(folder, "no-programs"), HOME: folder, RECORDED: recorded, BLOCK: file },
      stdio: "ignore",
      timeout: 45_000
    })
    if (error !== undefined) throw error
    return parse(readFileSync(recorded, "utf8"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

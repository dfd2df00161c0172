/** Runs a program of the documentation as a reader does: saved in a folder from which the packages resolve. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { within } from "../harness/eventually.ts"

const root = resolve(import.meta.dirname, "../..")

/** A folder inside the repository, from which packages resolve, but outside of `node_modules`, where Node runs no TypeScript. */
const makeFolder = (): string => {
  const parent = join(root, "test-results")
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, "program-"))
}

/** A folder for programs, until the scope ends. */
export const programFolder = Effect.acquireRelease(Effect.sync(makeFolder), (folder) =>
  Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** Gives `work` a folder for programs. */
export const inFolder = async <A>(work: (folder: string) => Promise<A>): Promise<A> => {
  const folder = makeFolder()
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A program that runs with these variables, in a group of its own, so that a shell ends together with what it runs. */
export const started = (
  command: string,
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>> = {}
) => {
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(command, args, { cwd: root, env: { ...env, ...variables }, detached: true })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString()
    })
  const ended = new Promise<string>((done, fail) => {
    child.on("error", fail)
    child.on("close", (status) => (status === 0 ? done(said) : fail(new Error(said))))
  })
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, "SIGKILL")
  }
  return { child, ended, end, said: () => said }
}

/** The output of a program, which must end by itself and succeed. `others` are files in its folder. */
export const printed = (
  program: string,
  variables: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string>> = {}
): Promise<string> =>
  inFolder((folder) => {
    const file = join(folder, "program.ts")
    for (const [name, text] of Object.entries({ ...others, "program.ts": program }))
      writeFileSync(join(folder, name), text)
    const run = started(process.execPath, ["--conditions=source", file], variables)
    return within("the program to end", run.ended, 100_000).finally(run.end)
  })

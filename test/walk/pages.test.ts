/** The shell blocks of the documentation use only programs, scripts, commands and flags that exist. */
import { once } from "node:events"
import { existsSync, globSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshHome, runNarthex } from "../../packages/cli/test/support/runNarthex.ts"
import { type Block, documentationPages, fencedBlocks } from "../../scripts/pages/blocks.ts"
import { resource } from "../harness/resource.ts"
import { blocksRunBy } from "../support/documentedBlocks.ts"
import { keySecret } from "../support/keySecret.ts"
import { root } from "./ground.ts"
import { type Command, projectId, recordCommands } from "./recordCommands.ts"

const pages = [...documentationPages, ...globSync("bench/*.md", { cwd: root })].toSorted()
const read = (page: string) => readFileSync(join(root, page), "utf8")

/** Commands in sentences, each as a block. */
const inSentences = (page: string): ReadonlyArray<Block> =>
  [
    ...read(page)
      .replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, "")
      .matchAll(/`(narthex [^`\n]+)`/g)
  ].map(([, text = ""]) => ({
    page,
    at: `${page}: ${text}`,
    language: "sh",
    heading: "",
    lead: "",
    text: `${text.replaceAll(/<[\w-]+>|(?<!prj-)…/g, "placeholder")}\n`
  }))

/** The text that a block types into a shell: its own, or the commands of a step of a pipeline. */
const typedIn = (block: Block): ReadonlyArray<Block> => {
  if (block.language === "sh" || block.language === "console") return [block]
  if (block.language !== "yaml") return []
  return [{ ...block, text: [...block.text.matchAll(/^\s+run: (.+)$/gm)].map(([, line]) => `${line}\n`).join("") }]
}

const fenced = pages.flatMap((page) => fencedBlocks(page, read(page)).flatMap(typedIn))
/** Blocks that are run by no other test. */
const ownBlocks = new Set(blocksRunBy("test/walk/pages.test.ts").map(({ at }) => at))
/** The forms of commands in the page that is generated from the command tree are not typed as they stand. */
const forms = "docs/commands.md"
const blocks = [...fenced, ...pages.filter((page) => page !== forms).flatMap(inSentences)]
const isBlock = new Set(fenced.map(({ at }) => at))

/** How many commands of these names the text of a block has. The recording must have as many. */
const counted = ({ text }: Block): number =>
  [...text.replaceAll(/(^|\s)#.*$/gm, "").matchAll(/(^|[|(;&]|[A-Z]=\S*\s)\s*(narthex|node\S*|npm|\$server) /gm)].length

const commandsOf = ({ at, text }: Block): ReadonlyArray<Command> => {
  try {
    return recordCommands(text.replaceAll("prj-…", projectId))
  } catch (error) {
    throw new Error(`${at}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

const recorded = blocks.map((block) => ({ block, commands: commandsOf(block) }))

const cli = "packages/cli/bin/narthex.js"

/** The arguments of a call of the command line, in any spelling. */
const cliArguments = ([program, ...args]: Command): Command | undefined => {
  if (program === "narthex") return args
  return program === "node" && args[0] === cli ? args.slice(1) : undefined
}

const each = <A>(choose: (command: Command) => A | undefined) =>
  recorded.flatMap(({ block, commands }) =>
    commands.flatMap((command) => {
      const chosen = choose(command)
      return chosen === undefined ? [] : [{ at: block.at, chosen }]
    })
  )

/** The address of a server that answers every call with 403. */
const refusingServer = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((_, response) => response.writeHead(403).end())
      await once(server.listen(0, "127.0.0.1"), "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ),
  (server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }
)

/** Commands that blocks pipe into are not run. PowerShell's line of the completion has two of its commands. */
const known = ["narthex", "node", "npm", "jq", "Out-String", "Invoke-Expression"]

describe("the shell blocks of the documentation", () => {
  it("the shell blocks of the documentation are found with all of their commands", () => {
    assert.isAbove(blocks.length, 20)
    const lost = recorded
      .map(({ block, commands }) => ({
        at: block.at,
        seen: commands.filter(([name]) => ["narthex", "node", "npm"].includes(name ?? "")).length,
        counted: counted(block)
      }))
      .filter((it) => it.seen < it.counted)
    assert.deepStrictEqual(lost, [])
  })

  it("the blocks that no other test runs have only commands whose arguments are checked here", () => {
    const own = recorded.filter(({ block }) => ownBlocks.has(block.at))
    assert.strictEqual(own.length, ownBlocks.size)
    for (const { block, commands } of own) {
      assert.isNotEmpty(commands, block.at)
      const others = commands.filter(([name]) => !known.includes(name ?? ""))
      assert.deepStrictEqual(others, [], block.at)
    }
  })

  it("shell blocks run only scripts of package.json", () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read("package.json"))
    const runs = each(([program, verb, name]) => (program === "npm" ? (verb === "run" ? name : verb) : undefined))
    assert.isAbove(runs.length, 2)
    assert.deepStrictEqual(
      runs.filter(({ chosen }) => !["ci", "init", "install", ...Object.keys(scripts)].includes(chosen)),
      []
    )
  })

  it("shell blocks run only programs that exist after a build", async () => {
    await resource("build")
    const programs = each(([program, ...args]) =>
      program === "node" ? args.find((arg) => /^[\w.-]+\/\S+\.[jt]s$/.test(arg)) : undefined
    )
    assert.isAbove(programs.length, 5)
    assert.deepStrictEqual(
      programs.filter(({ chosen }) => !existsSync(join(root, chosen))),
      []
    )
  })

  it.effect("shell blocks use only commands and flags of the command line", () =>
    Effect.gen(function* () {
      // Signed in nowhere, at a server that refuses everything: a command that is written well ends for one of these
      // reasons.
      const variables = { NARTHEX_URL: yield* refusingServer }
      const setting = { home: yield* freshHome, variables, stdin: keySecret() }
      const refusals = (args: Command) =>
        Effect.map(runNarthex(args, setting), ({ code, stderr }) => (code === 2 ? [stderr] : []))
      // A sentence may name a command without the arguments that it takes.
      const names = (at: string, refusal: string) => !isBlock.has(at) && /^error: <\w+> is missing\./.test(refusal)
      const calls = each(cliArguments)
      assert.isAbove(calls.length, 20)
      const wrong: Array<string> = []
      for (const { at, chosen } of calls)
        for (const refusal of yield* refusals(chosen))
          if (!names(at, refusal)) wrong.push(`${at}: narthex ${chosen.join(" ")}\n${refusal}`)
      assert.deepStrictEqual(wrong, [])
      assert.lengthOf(yield* refusals(["ip-allow", "add", "--curent"]), 1)
    })
  )
})

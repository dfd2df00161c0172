/**
 * The section "Ten minutes" of the README, as a newcomer follows it: each block is typed as written, and then the
 * promises of the text are checked. The stage does what a person does by hand: the browser, killing and starting the
 * platform.
 *
 * The walk identifies each block by the beginning of its paragraph, so a block that is added to the section fails the
 * walk until the walk has a check for it.
 */
import assert from "node:assert/strict"
import { type Block, fencedBlocks } from "../../scripts/pages/blocks.ts"
import { until } from "../harness/eventually.ts"
import type { Printed, Running, Shell } from "./Shell.ts"

export interface Stage {
  /** The text that is typed for a text of the README. */
  readonly typed: (text: string) => string
  /** A terminal at the root of the clone. */
  readonly openTerminal: () => Shell
  /** Clicks through the sign-in that `narthex login` waits for; without it the walk takes the way without a browser. */
  readonly signIn?: (() => Promise<void>) | undefined
  /** The platform's metrics, which say when a stream is open. */
  readonly metrics: () => Promise<string>
  /** `kill -9` of the platform's own process. */
  readonly kill: () => Promise<void>
  /** Starts it again; resolves when it says that it is up. */
  readonly startAgain: () => Promise<void>
}

export interface Step {
  readonly sentence: string
  readonly run: () => Promise<void>
}

const section = "Ten minutes"
const email = "ada@example.com"

/** Whether a block of the README is a step of the walk. */
export const isStep = ({ heading, language }: Block): boolean => heading === section && language === "sh"

export const succeeded = ({ status, stderr, stdout }: Printed): string => {
  assert.equal(status, 0, `It ended with ${status}.\n${stdout}${stderr}`)
  return stdout
}

/** The comment of a block on its last command. */
const promised = ({ at, text }: Block): string => {
  const [, comment] = /\s# (.+)\n$/.exec(text) ?? []
  if (comment === undefined) throw new Error(`${at}: the last command has no comment that says what it prints.`)
  return comment
}

const oneSpace = (text: string) => text.replaceAll(/\s+/g, " ")

/** The block for a person without a browser: all lines except the one that waits for it. */
const withoutLogin = ({ at, text }: Block): string => {
  const kept = text.replace(/^narthex login\b.*\n/m, "")
  if (kept === text) throw new Error(`${at}: no line of it is "narthex login".`)
  return kept
}

/** The rows of `events tail` for one project, in order. */
const happened = (tail: Running, project: string): ReadonlyArray<string> =>
  tail
    .stdout()
    .split("\n")
    .filter((row) => row.includes(project))
    .map((row) => /create_timeline \w+/.exec(row)?.[0] ?? row)

const wholeStory = ["scheduling", "running", "finished"].map((status) => `create_timeline ${status}`)

export const walk = (readme: string, stage: Stage): ReadonlyArray<Step> => {
  const blocks = fencedBlocks("README.md", readme).filter(isStep)
  const terminal = stage.openTerminal()
  let tail: Running | undefined

  const type = (text: string) => terminal.run(`\`${text.trim().split("\n").at(-1)}\``, stage.typed(text))
  const answer = async (command: string) => succeeded(await type(command)).trim()

  const operations = () => answer("narthex operation list")

  /** Makes another project and waits until the third terminal has shown all of its story. */
  const makeAndWatch = async (name: string, watching: Running) => {
    const id = /\bprj-\w+/.exec(await answer(`narthex project create ${name}`))?.[0] ?? assert.fail("no project id")
    const isComplete = () => happened(watching, id).includes(wholeStory.at(-1) ?? "")
    await until(`the events of the project "${name}" in the third terminal`, isComplete)
    return id
  }

  const acts: ReadonlyArray<readonly [lead: string, sentence: string, act: (block: Block) => Promise<void>]> = [
    [
      "Sign in.",
      stage.signIn === undefined ? "finds narthex" : "signs in with the browser",
      async (block) => {
        if (stage.signIn === undefined) {
          succeeded(await type(withoutLogin(block)))
          return
        }
        const [printed] = await Promise.all([type(block.text), stage.signIn()])
        assert.match(succeeded(printed), new RegExp(`^Signed in as ${email} `))
      }
    ],
    [
      "Where there is no browser,",
      "signs in with curl",
      async ({ text }) => assert.match(await answer(text), new RegExp(`^Signed in as ${email} `))
    ],
    [
      "Who am I?",
      "names the person, the organization, the role and the key",
      async ({ text }) => {
        const said = await answer(text)
        for (const row of [`user +${email}`, "organization +\\S", "role +owner", "capability +\\S", "key +first "])
          assert.match(said, new RegExp(`^${row}`, "m"))
      }
    ],
    [
      "Make a project,",
      "makes a project, and the default of the commands that follow",
      async ({ text }) => {
        const said = await answer(text)
        assert.match(said, /^project +prj-\w+$/m)
        assert.match(said, /^The default project of context "default" is shop \(prj-\w+\)\.$/m)
      }
    ],
    [
      "Restrict it",
      "refuses an address that is not listed, and wakes nothing",
      async (block) => {
        const { status, stderr } = await type(block.text)
        assert.notEqual(status, 0)
        const expected = stage.typed(promised(block))
        assert.ok(oneSpace(stderr).includes(expected), `psql said\n${stderr}and not\n${expected}`)
        assert.doesNotMatch(await operations(), /start_compute/)
      }
    ],
    [
      "Let yourself in.",
      "lets the address in, and wakes the endpoint",
      async ({ text }) => {
        assert.match(await answer(text), /\banswer\b[\s\S]*\b42\b/)
        assert.match(await operations(), /start_compute/)
      }
    ],
    [
      "Watch.",
      "shows what happens to another project",
      async ({ text }) => {
        tail = stage.openTerminal().begin("narthex events tail", stage.typed(text))
        await until("the third terminal to follow the events", async () =>
          /^narthex_events_streams(\{.*\})? 1$/m.test(await stage.metrics())
        )
        const id = await makeAndWatch("second", tail)
        assert.deepEqual(happened(tail, id), wholeStory)
      }
    ],
    [
      "Kill it.",
      "has everything after it was killed, the stream's place included",
      async ({ text }) => {
        if (tail === undefined) throw new Error("No terminal watches.")
        const before = tail.stdout()
        assert.match(before, /\S/)
        await stage.kill()
        await stage.startAgain()
        const said = await answer(text)
        for (const kept of [/\bshop\b/, /\bsecond\b/, /\b42\b/]) assert.match(said, kept)
        const id = await makeAndWatch("third", tail)
        assert.deepEqual(happened(tail, id), wholeStory)
        const rows = tail.stdout().trimEnd().split("\n")
        assert.deepEqual(rows, [...new Set(rows)], "An event was shown twice.")
        assert.ok(tail.stdout().startsWith(before))
        assert.doesNotMatch(tail.stderr(), /gap/i)
        assert.equal((await tail.interrupt()).status, 130)
      }
    ]
  ]

  const leads = acts.map(([lead]) => lead)
  assert.deepEqual(
    blocks.map((block) => leads.find((lead) => block.lead.startsWith(lead)) ?? `${block.at} ${block.lead}`),
    leads,
    `The blocks under "${section}" are not those that the walk knows.`
  )
  return acts.map(([lead, sentence, act], at) => ({
    sentence: `${lead} It ${sentence}`,
    run: async () => {
      const block = blocks[at]
      if (block !== undefined) await act(block)
    }
  }))
}

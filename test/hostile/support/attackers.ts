/** The process of the attackers, and whether each attack had effect. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { assert } from "@effect/vitest"
import { within } from "../../harness/eventually.ts"
import { note } from "../../harness/note.ts"
import { program } from "../../harness/programs.ts"
import { toLog } from "../../harness/toLog.ts"
import { enterCpuGroup } from "../../support/cpuGroups.ts"
import type { Means } from "./attacks/Attack.ts"
import { attacks } from "./attacks/attacks.ts"

/** How often each outcome of an attack was seen, by the name of the attack. */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Begins a session and runs the command in it, with a lower priority also where the kernel groups processes by session. */
const apart = 'echo 10 > /proc/self/autogroup; exec nice -n 10 "$@"'

/**
 * The attackers stand for other machines, but they run on the platform's. So they yield the CPU to it, as computes do, in a
 * session that is not that of the test or the platform, and where there are control groups, in one for other machines.
 */
export const startAttack = async (means: Means, cpuGroup?: string) => {
  const command = [process.execPath, await program("attackers"), JSON.stringify(means)]
  const child = spawn("setsid", ["sh", "-c", apart, "sh", ...command], { stdio: ["pipe", "pipe", "pipe"] })
  if (cpuGroup !== undefined && child.pid !== undefined) enterCpuGroup(cpuGroup, child.pid)
  toLog(child.stderr)
  const lines = createInterface({ input: child.stdout })
  await within("the attackers to begin", once(lines, "line"))
  return {
    /** Ends the attack. Resolves with its outcomes. */
    stop: async (): Promise<Outcomes> => {
      const last = once(lines, "line")
      child.stdin.end()
      const [line] = await within("the attackers to end", last, 240_000)
      return JSON.parse(String(line))
    },
    kill: () => child.kill("SIGKILL")
  }
}

/** An attack of which every turn was refused would prove nothing, and a 500 is a fault of the platform. */
export const assertEffective = (outcomes: Outcomes) => {
  for (const { effective, name } of attacks) {
    const counted = outcomes[name] ?? {}
    note(`${name}: ${JSON.stringify(counted)}`)
    assert.isTrue(
      effective.some((outcome) => (counted[outcome] ?? 0) > 0),
      `${name}: no effect, ${JSON.stringify(counted)}`
    )
    assert.notProperty(counted, "500", name)
    for (const outcome of Object.keys(counted)) assert.notMatch(outcome, /^threw/, name)
  }
}

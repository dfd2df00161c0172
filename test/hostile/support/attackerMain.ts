/**
 * The process of the attackers; its argument is the `Means` as JSON. It attacks until its stdin ends and each attack has
 * had effect, and then prints the outcomes of each as one line of JSON: `{"branches":{"201":17,"429":30}}`.
 *
 * The process runs at the priority of computes: it stands for other machines, and must not compete with the platform
 * for this one. At a lower priority it would get nothing done on a machine that is busy with other work.
 */
import { once, setMaxListeners } from "node:events"
import { setPriority } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import type { Attack, Means } from "./attacks/Attack.ts"
import { attacks } from "./attacks/attacks.ts"

setPriority(10)
// The test passes its own type as JSON.
const means = JSON.parse(process.argv[2] ?? "{}") as Means
const stop = new AbortController()
const outcomes: Record<string, Record<string, number>> = {}

/** Milliseconds that a slow machine may need until each attack has had effect. */
const patience = 180_000

const end = async () => {
  const limit = performance.now() + patience
  const isEffective = ({ effective, name }: Attack) => effective.some((outcome) => outcome in (outcomes[name] ?? {}))
  while (!attacks.every(isEffective) && performance.now() < limit) await sleep(50)
  stop.abort()
}

const loop = async ({ name, turn }: Attack, lane: number) => {
  const counted = outcomes[name] ?? {}
  outcomes[name] = counted
  for (let round = 0; !stop.signal.aborted; round++) {
    const outcome = await turn(means, lane, round, stop.signal).catch((error: unknown) => `threw ${String(error)}`)
    counted[outcome] = (counted[outcome] ?? 0) + 1
  }
}

// Each lane that waits listens to it.
setMaxListeners(0, stop.signal)
process.stdin.on("end", () => void end()).resume()
process.stdout.write("attacking\n")
const lanes = attacks.flatMap((attack) =>
  Array.from({ length: Math.ceil(attack.lanes * means.effort) }, (_, lane) => loop(attack, lane))
)
// A turn that waits for an answer of the platform when the attack ends is not counted.
await Promise.race([Promise.all(lanes), once(stop.signal, "abort").then(() => sleep(2_000))])
process.stdout.write(`${JSON.stringify(outcomes)}\n`, () => process.exit(0))

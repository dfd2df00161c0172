/**
 * The process of the bystander; its argument is the `Caller` as JSON. It prints its address, and for each line `begin` and
 * `end 20` on stdin what at least 20 rounds measured, each as one line of JSON.
 */
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { Bystander } from "./Bystander.ts"
import type { Caller } from "./Caller.ts"
import { nothingMeasured } from "./Measured.ts"

// The test passes its own type as JSON.
const caller = JSON.parse(process.argv[2] ?? "{}") as Caller
const bystander = await Bystander.make(caller)
const say = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`)
let least = 0

/** Milliseconds between the beginnings of two rounds, so that it stays below the limit on what it creates and suspends. */
const pace = 800

const work = async () => {
  const measured = nothingMeasured()
  for (let round = 0; round < least; round++) await Promise.all([bystander.round(measured), sleep(pace)])
  say(measured)
}

say(bystander.address)
for await (const line of createInterface({ input: process.stdin })) {
  const [what, rounds] = line.split(" ")
  if (what === "end") {
    least = Number(rounds)
    continue
  }
  least = Number.POSITIVE_INFINITY
  void work()
}
process.exit(0)

/**
 * The process that must not die: small statements, transactions and a LISTEN, without pause, while the
 * test crashes the server. `node load.ts <driver module> <url>`; lines on stdin are commands, lines on stdout answers:
 *
 * - every notified payload is printed as `heard <payload>`;
 * - `count <number>` prints the counts so far, with the number;
 * - `finish` stops issuing work, waits until everything issued has settled (or 30 s), prints the counts and ends.
 */
import { createInterface } from "node:readline"
import { setImmediate, setTimeout } from "node:timers/promises"
import type { Driver } from "./Driver.ts"

const [, , module = "", url = ""] = process.argv
const { driver } = (await import(module)) as { readonly driver: (url: string) => Driver }
const { query, transaction, listen } = driver(url)

const counts = { issued: 0, resolved: 0, rejected: 0, slowest_ms: 0, reasons: {} as Record<string, number> }
const pending = new Set<number>()
let finishing = false

const settle = async (work: () => Promise<unknown>): Promise<void> => {
  const id = counts.issued++
  const started = performance.now()
  pending.add(id)
  try {
    await work()
    counts.resolved++
  } catch (cause) {
    counts.rejected++
    const reason = String((cause as { readonly code?: unknown }).code ?? (cause as Error).name)
    counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1
    await setTimeout(2)
  } finally {
    pending.delete(id)
    counts.slowest_ms = Math.max(counts.slowest_ms, Math.round(performance.now() - started))
  }
}

const worker = async (): Promise<void> => {
  for (let turn = 0; !finishing; turn++) {
    if (turn % 5 === 4) {
      await settle(() => transaction(["insert into load default values", "select count(*) from load where id < 0"]))
    } else {
      await settle(() => query("select $1::int as x, $2::text as y", [turn, "small"]))
    }
    await setImmediate()
  }
}

const print = (asked: number) => console.log(`counts ${JSON.stringify({ ...counts, asked, pending: pending.size })}`)

listen("load", (payload) => console.log(`heard ${payload}`)).catch(() => {
  // A driver that does not repeat a failed first LISTEN fails the test, because no payload arrives.
})
const workers = Promise.all(Array.from({ length: 24 }, worker))

for await (const command of createInterface({ input: process.stdin })) {
  const [word, number] = command.split(" ")
  if (word === "count") print(Number(number))
  if (word === "finish") {
    finishing = true
    await Promise.race([workers, setTimeout(30_000, undefined, { ref: false })])
    print(0)
    process.exit(0)
  }
}
// stdin has closed: the test has ended.
process.exit(2)

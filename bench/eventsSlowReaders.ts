/**
 * The memory that stalled, slow and resetting readers add to the server while others keep up: RSS, and the heap in use
 * after a collection. Tests in `packages/http` verify the exact count of lost events and the bound for each reader.
 *
 * `node --conditions=source bench/eventsSlowReaders.ts [seconds]`, by default 12.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { RawStream, requestText } from "../packages/http/test/events/support/RawStream.ts"
import { SocketReader } from "../packages/http/test/events/support/Reader.ts"
import type { Answer, Command } from "./eventsMemoryServer.ts"

const seconds = Number(process.argv[2] ?? "12")
/** Warm-up, so that the heap reaches its working size. Without it, the growth of the heap looks like a leak. */
const warmUp = 12_000
const rate = 3_000
const healthyReaders = 20
const stalledReaders = 100
const slowReaders = 10
/** Bytes that a slow reader reads every 20 ms: a seventh of the traffic. */
const slowly = 4_000
/** Connections per second that are reset after they open: the limit of one principal. */
const resets = 50
const mebibyte = 1024 * 1024

const child = fork(join(import.meta.dirname, "eventsMemoryServer.ts"), {
  execArgv: ["--conditions=source", "--expose-gc"]
})
const next = async (): Promise<Answer> => (await once(child, "message"))[0]
const ask = async (command: Command) => {
  const answer = next()
  child.send(command)
  return answer
}
const look = async () => {
  const answer = await ask({ look: true })
  if (!("seen" in answer)) throw new Error("The server did not report what it measured.")
  return answer.seen
}
const publish = async (millis: number) => {
  const answer = await ask({ publish: { rate, millis } })
  if (!("published" in answer)) throw new Error("The server did not publish.")
  return answer.published
}

const first = await next()
if (!("up" in first)) throw new Error("The server did not say that it is up.")
const { port, token } = first.up
const readers = (count: number) => Array.from({ length: count }, () => new SocketReader(port, token))
const streamsAre = async (count: number) => {
  while ((await look()).streams < count) await setTimeout(20)
}

const healthy = readers(healthyReaders).map((reader) => reader.keepUp())
await streamsAre(healthy.length)

let going = true
let reset = 0
const quitting = async () => {
  for (; going; await setTimeout(1_000 / resets)) {
    const { socket } = new RawStream(port, requestText({ token }))
    socket.once("data", () => {
      reset += 1
      socket.resetAndDestroy()
    })
  }
}
const quitters = quitting()
await publish(warmUp)

const before = await look()
const stalled = readers(stalledReaders).map((reader) => reader.stall())
const slow = readers(slowReaders).map((reader) => reader.dawdle())
await streamsAre(healthy.length + stalled.length + slow.length)
const reading = setInterval(() => {
  for (const reader of slow) reader.take(slowly)
}, 20)
const published = await publish(1_000 * seconds)
const after = await look()
going = false
clearInterval(reading)
await quitters

const added = (of: "rss" | "live") => `${((after[of] - before[of]) / mebibyte).toFixed(1)} MiB`
console.log(
  `${published} events in ${seconds} s, ${reset} resets, ${stalled.length} stalled and ${slow.length} slow readers`
)
console.log(`RSS + ${added("rss")}, in use + ${added("live")}`)
console.log(`others got everything: ${healthy.every(({ broken, closed }) => broken === undefined && !closed)}`)
child.kill("SIGKILL")
process.exit(0)

/**
 * A server of event streams in its own process, which publishes events and measures itself on command.
 * `node eventsServer.ts <kind> <organizations>`.
 */
import { setTimeout } from "node:timers/promises"
import { bare, bareSocket, betterSse } from "./eventsLimits.ts"
import { serveOurs } from "./eventsOurs.ts"
import type { Collection, Publish, Served, ServerCommand } from "./eventsProtocol.ts"

const [kind, organizations = "1"] = process.argv.slice(2)

/** RSS in bytes, after a full collection or after one that returns as much memory as possible. */
const resident = (after: Collection) => {
  if (after === "full") globalThis.gc?.()
  else globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })
  return process.memoryUsage.rss()
}

const cpu = () => {
  const { system, user } = process.cpuUsage()
  return system + user
}

const serve = ({ publish, up }: Served) => {
  const publishAll = async ({ events, millis, steps }: Publish) => {
    for (let step = 0, next = performance.now(); step < steps; step++) {
      await publish(events)
      next += millis
      await setTimeout(Math.max(0, next - performance.now()))
    }
    return 0
  }
  const obey = async (command: ServerCommand) => {
    if ("publish" in command) return publishAll(command.publish)
    return "cpu" in command ? cpu() : resident(command.memory)
  }
  process.on("message", (command: ServerCommand) => void obey(command).then((answer) => process.send?.(answer)))
  process.send?.(up)
}

process.on("disconnect", () => process.exit(0))

if (kind === "node:http") serve(await bare(Number(organizations)))
else if (kind === "socket.write") serve(await bareSocket(Number(organizations)))
else if (kind === "better-sse") serve(await betterSse(Number(organizations)))
else await serveOurs(Number(organizations), serve)

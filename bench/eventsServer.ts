/**
 * A server of event streams in its own process, which publishes events and measures itself on command.
 * `node eventsServer.ts <kind> <organizations> [folder of the socket of Postgres]`.
 */
import { setTimeout } from "node:timers/promises"
import { bare, bareSocket, betterSse } from "./eventsLimits.ts"
import { nchan } from "./eventsNchan.ts"
import { serveOurs } from "./eventsOurs.ts"
import type { Collection, Publish, Served, ServerCommand, ServerKind } from "./eventsProtocol.ts"

// `startServer` passes one of them.
const kind = process.argv[2] as ServerKind
const organizations = Number(process.argv[3] ?? "1")
const socket = process.argv[4]

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

const serve = ({ own = { cpu, memory: resident }, publish, up }: Served) => {
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
    return "cpu" in command ? own.cpu() : own.memory(command.memory)
  }
  process.on("message", (command: ServerCommand) => void obey(command).then((answer) => process.send?.(answer)))
  process.send?.(up)
}

process.on("disconnect", () => process.exit(0))

switch (kind) {
  case "node:http":
    serve(await bare(organizations))
    break
  case "socket.write":
    serve(await bareSocket(organizations))
    break
  case "better-sse":
    serve(await betterSse(organizations))
    break
  case "nchan":
    serve(await nchan(organizations))
    break
  case "narthex":
    await serveOurs(organizations, serve)
    break
  case "narthex, Postgres":
    if (socket === undefined) throw new Error("The server needs the socket of a Postgres.")
    await serveOurs(organizations, serve, socket)
}

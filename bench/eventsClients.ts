/** Many connections in one process, which only count events. */
import { once } from "node:events"
import { connect } from "node:net"
import type { ClientCommand, Connect } from "./eventsProtocol.ts"

const opening = 200
const marker = Buffer.from("\ndata:")

let received = 0
let expected: { readonly events: number; readonly done: () => void } | undefined

const count = (chunk: Buffer) => {
  for (let at = chunk.indexOf(marker); at !== -1; at = chunk.indexOf(marker, at + marker.length)) received += 1
  if (expected !== undefined && received >= expected.events) {
    received -= expected.events
    expected.done()
    expected = undefined
  }
}

/**
 * Counts what one stream gets.
 *
 * Pitfall: counting in each chunk alone. A marker that two chunks share is missed, and what is expected never comes.
 */
const counter = () => {
  const kept = marker.length - 1
  let tail = Buffer.alloc(0)
  return (chunk: Buffer) => {
    if (Buffer.concat([tail, chunk.subarray(0, kept)]).includes(marker)) received += 1
    tail = Buffer.concat([tail, chunk.subarray(-kept)]).subarray(-kept)
    count(chunk)
  }
}

const open = async (port: number, token: string) => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  socket.write(
    `GET /v1/events HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`
  )
  let text = ""
  while (!text.includes(": ok") && !text.includes("\r\n\r\n:")) text += String((await once(socket, "data"))[0])
  socket.on("data", counter())
  socket.on("close", () => {
    throw new Error("A stream ended.")
  })
}

const openAll = async ({ connections, port, tokens }: Connect) => {
  let next = 0
  const worker = async () => {
    while (next < connections) await open(port, tokens[next++ % tokens.length] ?? "")
  }
  await Promise.all(Array.from({ length: opening }, worker))
}

const obey = async (command: ClientCommand) => {
  if ("connect" in command) await openAll(command.connect)
  else
    await new Promise<void>((done) => {
      expected = { events: command.expect, done }
      count(Buffer.alloc(0))
    })
  process.send?.({})
}

process.on("message", (command: ClientCommand) => void obey(command))

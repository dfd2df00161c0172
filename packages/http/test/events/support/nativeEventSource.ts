/**
 * Node's own EventSource reads a body that is cut in two, at each of the places that the argument lists as JSON. Run with
 * `--experimental-eventsource`; the body comes on stdin, and the distinct outcomes go to stdout, each with how many cuts
 * had it.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"

const concurrency = 32
const types = ["operation.updated.v1", "resume.gap.v1", "overflow.v1", "error.v1", "message"]

// The argument is JSON that the test has written.
const cuts = JSON.parse(process.argv[2] ?? "[]") as ReadonlyArray<number>
const body = await buffer(process.stdin)

const server = createServer(async (request, response) => {
  const cut = Number(new URL(request.url ?? "", "http://x").searchParams.get("cut"))
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", connection: "close" })
  response.socket?.setNoDelay(true)
  response.write(body.subarray(0, cut))
  // A whole turn of the event loop: the reader, in this process too, takes the first part by itself.
  await setImmediate()
  await setImmediate()
  response.end(body.subarray(cut))
})
await new Promise<void>((up) => server.listen(0, "127.0.0.1", up))
// A server that listens on TCP has such an address.
const { port } = server.address() as AddressInfo

const read = (cut: number) =>
  new Promise<string>((done) => {
    const source = new EventSource(`http://127.0.0.1:${port}/?cut=${cut}`)
    const seen: Array<unknown> = []
    for (const type of types)
      source.addEventListener(type, (event) => {
        // The type of such events is MessageEvent; the library's declaration does not know these names.
        const { data, lastEventId } = event as MessageEvent<string>
        seen.push([type, lastEventId, data])
      })
    // The end of the body: it would connect again.
    source.onerror = () => {
      source.close()
      done(JSON.stringify(seen))
    }
  })

const outcomes = new Map<string, number>()
const left = [...cuts]
const worker = async () => {
  for (let cut = left.pop(); cut !== undefined; cut = left.pop()) {
    const outcome = await read(cut)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
}
await Promise.all(Array.from({ length: concurrency }, worker))
process.stdout.write(JSON.stringify([...outcomes]), () => process.exit(0))

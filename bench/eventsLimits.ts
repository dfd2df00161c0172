/**
 * The servers for comparison: bare `node:http`, which encodes each event once and writes the buffer to every stream of
 * the organization; the same with a framed buffer, written directly to the socket, which is the limit without internals
 * of Node; and better-sse with a channel for each organization. They do not authenticate and store no events, so a
 * client loses what it misses.
 */
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Writable } from "node:stream"
import { type Channel, createChannel, createSession } from "better-sse"
import type { Served } from "./eventsProtocol.ts"
import { sampleEnvelope, sampleType } from "./eventsSample.ts"

/** Starts a server. A token only identifies an organization. */
const served = async (
  organizations: number,
  onRequest: RequestListener,
  emit: (token: string, n: number) => void
): Promise<Served> => {
  const tokens = Array.from({ length: organizations }, (_, at) => `organization-${at}`)
  const server = createServer(onRequest)
  await new Promise<void>((up) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, up))
  let n = 0
  const publish = async (events: number) => {
    for (const token of tokens)
      for (let event = 0; event < events; event++) {
        n += 1
        emit(token, n)
      }
  }
  // A TCP server has this type of address.
  return { up: { port: (server.address() as AddressInfo).port, tokens }, publish }
}

const tokenOf = (authorization: string | undefined) => authorization?.slice("Bearer ".length) ?? ""

const frameOf = (n: number) => {
  const envelope = sampleEnvelope(n)
  return `id: ${envelope.id}\nevent: ${sampleType}\ndata: ${JSON.stringify(envelope)}\n\n`
}

/** Writes each event, encoded by `frame`, to the `target` of each stream of its organization. */
const writing = (
  organizations: number,
  target: (response: ServerResponse) => Writable,
  frame: (n: number) => Buffer
): Promise<Served> => {
  const streams = new Map<string, Array<Writable>>()
  return served(
    organizations,
    (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
      response.write(": ok\n\n")
      const token = tokenOf(request.headers.authorization)
      const known = streams.get(token)
      if (known === undefined) streams.set(token, [target(response)])
      else known.push(target(response))
    },
    (token, n) => {
      const bytes = frame(n)
      for (const stream of streams.get(token) ?? []) stream.write(bytes)
    }
  )
}

export const bare = (organizations: number) =>
  writing(
    organizations,
    (response) => response,
    (n) => Buffer.from(frameOf(n))
  )

export const bareSocket = (organizations: number) =>
  writing(
    organizations,
    (response) => response.socket ?? response,
    (n) => {
      const frame = frameOf(n)
      return Buffer.from(`${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`)
    }
  )

export const betterSse = (organizations: number): Promise<Served> => {
  const channels = new Map<string, Channel>()
  const channelOf = (token: string) => {
    const channel = channels.get(token) ?? createChannel()
    channels.set(token, channel)
    return channel
  }
  return served(
    organizations,
    (request, response) => {
      void createSession(request, response, { keepAlive: null }).then((session) => {
        response.write(": ok\n\n")
        channelOf(tokenOf(request.headers.authorization)).register(session)
      })
    },
    (token, n) => {
      const envelope = sampleEnvelope(n)
      channelOf(token).broadcast(envelope, sampleType, { eventId: envelope.id })
    }
  )
}

/**
 * A server of event streams in a process of its own: ours, whole, over memory; bare `node:http` that writes one shared
 * buffer to everybody and does nothing else; or better-sse. `node eventsServer.ts <kind> <organizations>`.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { randomBytes } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import {
  AccessPolicy,
  defaultEventSettings,
  Entropy,
  EventSettings,
  IdentityProvider,
  KeyDigester,
  layerMemoryComputes,
  layerMemoryPorts,
  layerServices,
  OrgId,
  ProviderView,
  TokenSigner,
  Transaction
} from "@narthex/core"
import { Draining, layerApiServer, RateLimits } from "@narthex/http"
import { createChannel, createSession } from "better-sse"
import { DateTime, Duration, Effect, Layer, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import type { Looked, ServerCommand, ServerUp } from "./eventsProtocol.ts"

const [kind, organizations = "1"] = process.argv.slice(2)

interface Served {
  readonly up: ServerUp
  readonly publish: () => Promise<unknown>
}

/** An event as operations emit it. */
const data = (n: number) => ({
  operation_id: `op-01k3z6v9e8q0x5m4c2b7n1r0sd-${n}`,
  action: "start_compute",
  status: "finished",
  branch_id: "br-01k3z6v9e8q0x5m4c2b7n1r0sd",
  endpoint_id: "ep-01k3z6v9e8q0x5m4c2b7n1r0sd",
  initiator: { type: "user", id: "0192f0c1-2d3e-7abc-8def-0123456789ab", name: "ada@example.com" }
})

const envelope = (n: number) => ({
  id: `01K3Z6V9E8Q0X5M4C2B7N${String(n).padStart(5, "0")}`,
  type: "operation.updated.v1",
  source: "operations",
  org_id: "0192f0c1-2d3e-7abc-8def-0123456789ab",
  project_id: "prj-01k3z6v9e8q0x5m4c2b7n1r0sd",
  region_id: "local",
  at: "2026-03-04T05:06:07.089Z",
  data: data(n)
})

const listening = async (server: ReturnType<typeof createServer>): Promise<ServerUp> => {
  await new Promise<void>((up) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, up))
  // A server that listens on TCP has such an address.
  return { port: (server.address() as AddressInfo).port, tokens: [""] }
}

let n = 0

const bare = async (): Promise<Served> => {
  const responses: Array<ServerResponse> = []
  const up = await listening(
    createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
      response.write(": ok\n\n")
      responses.push(response)
    })
  )
  const publish = async () => {
    n += 1
    const { id, type } = envelope(n)
    const frame = Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(envelope(n))}\n\n`)
    for (const response of responses) response.write(frame)
  }
  return { up, publish }
}

const betterSse = async (): Promise<Served> => {
  const channel = createChannel()
  const up = await listening(
    createServer((request, response) => {
      void createSession(request, response, { keepAlive: null }).then((session) => {
        response.write(": ok\n\n")
        channel.register(session)
      })
    })
  )
  const publish = async () => {
    n += 1
    const { id, type } = envelope(n)
    channel.broadcast(envelope(n), type, { eventId: id })
  }
  return { up, publish }
}

const Believer = Layer.succeed(IdentityProvider, {
  providers: [new ProviderView({ id: "bench", name: "Bench", issuer: "https://issuer.test" })],
  verify: ({ id_token }) =>
    Effect.succeed({
      provider: "bench",
      issuer: "https://issuer.test",
      subject: Redacted.value(id_token),
      email: Redacted.value(id_token),
      email_verified: true,
      name: null,
      token_digest: Redacted.value(id_token),
      expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
    })
})

const references = Layer.mergeAll(
  Layer.succeed(References.MinimumLogLevel, "None"),
  Layer.succeed(AccessPolicy, { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }),
  Layer.succeed(RateLimits, null),
  Layer.succeed(EventSettings, { ...defaultEventSettings, limits: null })
)

const api = layerApiServer({ host: "127.0.0.1", port: 0, grace: Duration.seconds(1) }).pipe(
  Layer.provideMerge(layerServices),
  Layer.provideMerge(Draining.layer),
  Layer.provideMerge(TokenSigner.layerMemory),
  Layer.provideMerge(layerMemoryPorts),
  Layer.provideMerge(
    Layer.mergeAll(
      Entropy.layer,
      Believer,
      layerMemoryComputes,
      KeyDigester.layer({ id: "bench", key: Redacted.make(new Uint8Array(randomBytes(32))) })
    )
  ),
  Layer.provideMerge(references)
)

const signIn = async (port: number, email: string) => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/auth/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id_token: email })
  })
  const body = await response.json()
  return { token: String(body.access_token), org: OrgId.make(body.organization.id) }
}

const ours = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const { emit, run } = yield* Transaction
  const port = "port" in address ? address.port : 0
  const members = yield* Effect.forEach(Array.from({ length: Number(organizations) }), (_, at) =>
    Effect.promise(() => signIn(port, `user-${at}@example.com`))
  )
  const event = ({ org }: (typeof members)[number]) => {
    const { source, type } = envelope(0)
    return emit({ org_id: org, project_id: null, type, source, internal: false, data: data(n) })
  }
  const commit = Effect.suspend(() => {
    n += 1
    return run(Effect.forEach(members, event, { discard: true }))
  })
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const served: Served = {
    up: { port, tokens: members.map(({ token }) => token) },
    publish: () => runPromise(commit)
  }
  yield* Effect.promise(() => serve(served))
  return yield* Effect.never
})

const serve = async ({ publish, up }: Served) => {
  const look = (): Looked => {
    const { system, user } = process.cpuUsage()
    globalThis.gc?.()
    return { cpu: system + user, rss: process.memoryUsage.rss() }
  }
  const obey = async (command: ServerCommand) => {
    if ("look" in command) return look()
    const { millis, steps } = command.publish
    for (let step = 0, next = performance.now(); step < steps; step++) {
      await publish()
      next += millis
      await setTimeout(Math.max(0, next - performance.now()))
    }
    return {}
  }
  process.on("message", (command: ServerCommand) => void obey(command).then((answer) => process.send?.(answer)))
  process.send?.(up)
}

process.on("disconnect", () => process.exit(0))

if (kind === "node:http") await serve(await bare())
else if (kind === "better-sse") await serve(await betterSse())
else await Effect.runPromise(Effect.provide(ours, api))

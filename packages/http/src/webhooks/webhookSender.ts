/**
 * `WebhookSender` on Node's HTTPS: resolves the name at each attempt, checks every address, and connects to one of the
 * checked ones, with the name for TLS (docs/design/webhooks.md H8 and H9).
 *
 * Names are asked of the DNS servers of the machine, never of its file of hosts.
 *
 * Pitfall: `dns.lookup`. It waits in one of four threads that files and cryptography use too, so a few names that are
 * not answered would stop the process.
 *
 * Nothing is imported from Node: on a runtime without its modules the sender has no connections.
 */
import type * as Dns from "node:dns"
import type * as Https from "node:https"
import type { LookupFunction } from "node:net"
import {
  hostOf,
  isAddress,
  mayReach,
  type WebhookAnswer,
  WebhookNetworks,
  type WebhookRequest,
  WebhookSender,
  WebhookUnreached,
  webhookLimits,
  whyNoReceiver
} from "@narthex/core"
import { Effect, Layer } from "effect"

/** The addresses of a name; none: it has none, or was not found. */
export type Resolve = (host: string) => Promise<ReadonlyArray<string>>

interface Builtins {
  readonly "node:dns": typeof Dns
  readonly "node:https": typeof Https
}

const builtin = <Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined => {
  // The global of Node and of compatible runtimes. Other runtimes have no `process`, or one of another form.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: Name) => Builtins[Name] | undefined } }
  return process?.getBuiltinModule?.(name)
}

/** Milliseconds for one question to a DNS server, and how often it is asked. */
const question = { timeout: 2_000, tries: 2 }

const byDns =
  ({ promises }: typeof Dns): Resolve =>
  async (host) => {
    const resolver = new promises.Resolver(question)
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  }

/** The most bytes of an answer's body that are read: enough for as many characters as are kept. */
const mostBytes = 4 * webhookLimits.excerpt

/** Answers every question with the checked addresses. */
const lookupOf = (addresses: ReadonlyArray<string>): LookupFunction => {
  const known = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  return (_host, { all }, callback) => {
    const [first] = known
    if (all === true) callback(null, known)
    else callback(null, first?.address ?? "", first?.family)
  }
}

const reasonOf = (error: NodeJS.ErrnoException): string =>
  error.code === undefined ? "The connection failed." : `The connection failed (${error.code}).`

const exchange = (
  { request }: typeof Https,
  { body, headers, url }: WebhookRequest,
  addresses: ReadonlyArray<string>
): Effect.Effect<WebhookAnswer, WebhookUnreached> =>
  Effect.callback((resume) => {
    const target = new URL(url)
    const bytes = new TextEncoder().encode(body)
    const sent = request({
      hostname: hostOf(target),
      port: target.port === "" ? 443 : Number(target.port),
      path: target.pathname + target.search,
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        "user-agent": "narthex-webhooks",
        "content-length": bytes.length
      },
      agent: false,
      lookup: lookupOf(addresses)
    })
    const failed = (error: NodeJS.ErrnoException) => {
      resume(Effect.fail(new WebhookUnreached({ reason: reasonOf(error) })))
      sent.destroy()
    }
    sent.on("error", failed)
    sent.on("response", (answer) => {
      const parts: Array<Uint8Array> = []
      let length = 0
      const done = () => {
        const excerpt = new TextDecoder().decode(
          Uint8Array.from(parts.flatMap((part) => [...part])).slice(0, mostBytes)
        )
        const retry_after = answer.headers["retry-after"] ?? null
        resume(Effect.succeed({ status: answer.statusCode ?? 0, retry_after, excerpt }))
        sent.destroy()
      }
      answer.on("error", failed)
      answer.on("end", done)
      answer.on("data", (part: Uint8Array) => {
        parts.push(part)
        length += part.length
        if (length >= mostBytes) done()
      })
    })
    sent.end(bytes)
    return Effect.sync(() => sent.destroy())
  })

const inside = new WebhookUnreached({ reason: "The name leads to an address that is not of the public internet." })

/** `resolve`: left out, by the DNS servers of the machine. */
export const layerWebhookSender = (resolve?: Resolve): Layer.Layer<never> =>
  Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const [dns, https] = [builtin("node:dns"), builtin("node:https")]
      if (dns === undefined || https === undefined) return yield* WebhookSender
      const ask = resolve ?? byDns(dns)
      const networks = yield* WebhookNetworks

      const addressesOf = (host: string) =>
        isAddress(host)
          ? Effect.succeed([host])
          : Effect.tryPromise({ try: () => ask(host), catch: () => unknown }).pipe(
              Effect.filterOrFail(
                (found) => found.length > 0,
                () => unknown
              )
            )

      return {
        post: Effect.fn("WebhookSender.post")(function* (request) {
          const malformed = whyNoReceiver(request.url, networks)
          if (malformed !== undefined) return yield* new WebhookUnreached({ reason: malformed })
          const addresses = yield* addressesOf(hostOf(new URL(request.url)))
          if (!addresses.every((address) => mayReach(address, networks))) return yield* inside
          return yield* exchange(https, request, addresses)
        })
      }
    })
  )

const unknown = new WebhookUnreached({ reason: "The name of the receiver was not found." })

/** Serves `ProxyApi` from the core: the calls of proxies. */
import { type ActivityPayload, Api, canonicalAddress, type RefusalsPayload } from "@narthex/api"
import {
  ClientRefusals,
  EndpointId,
  EventFeed,
  InvalidMember,
  isStorable,
  ProjectId,
  type ProxyReport,
  ProxyRequests,
  RefusalReason,
  type RefusalReport,
  requestedId
} from "@narthex/core"
import { DateTime, Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { streamChanges } from "../events/proxyChanges.ts"
import { ServerIdentity } from "../ServerIdentity.ts"
import { problems } from "../toProblem.ts"
import { Transport } from "../transport/Transport.ts"

export const ProxyHandlers = HttpApiBuilder.group(
  Api,
  "proxy",
  Effect.fn(function* (handlers) {
    const feed = yield* EventFeed
    const refusals = yield* ClientRefusals
    const requests = yield* ProxyRequests
    const transport = yield* Transport
    return handlers.handleAll({
      resolve: ({ payload }) => problems(requests.resolve(requestedId(EndpointId, payload.endpoint_id), payload.role)),
      allowlists: Effect.fnUntraced(function* ({ payload }) {
        const ids = payload.project_ids.filter((id) => id !== "" && isStorable(id)).map((id) => ProjectId.make(id))
        const lists = yield* problems(requests.allowlists(ids))
        return {
          allowlists: lists.map(({ rules, server_now, ...list }) => ({
            ...list,
            rules: rules.map(({ cidr, expires_at }) => ({
              cidr,
              expires_at: expires_at === null ? null : DateTime.formatIso(expires_at)
            })),
            server_now: DateTime.formatIso(server_now)
          }))
        }
      }),
      changes: Effect.fnUntraced(function* ({ request }) {
        const { heartbeat } = yield* ServerIdentity
        const { open, written } = transport.streamed(request)
        return yield* written(streamChanges(feed, open, heartbeat))
      }),
      wake: Effect.fnUntraced(function* ({ params, payload }) {
        const address = yield* addressIn(payload.client_address)
        return yield* problems(requests.wake(requestedId(EndpointId, params.endpoint_id), address, payload.unreachable))
      }),
      cancel: Effect.fnUntraced(function* ({ payload: { client_address, key_hash } }) {
        const address = yield* addressIn(client_address)
        return yield* problems(requests.cancel({ key_hash, client_address: address }))
      }),
      activity: ({ payload }) => problems(requests.noteActivity(reportOf(payload))),
      refusals: ({ payload }) => problems(refusals.note(refusalsOf(payload)))
    })
  })
)

const addressIn = (text: string) => {
  const address = canonicalAddress(text)
  return address === null
    ? problems(new InvalidMember({ path: ["client_address"], reason: "Expected an IP address." }))
    : Effect.succeed(address)
}

/**
 * The report of a proxy's sessions. A proxy version that sends no `proxy_id` counts no busy sessions, and dates the last
 * activity by its own clock. The time is not used, and each of its sessions counts as busy.
 */
const reportOf = ({ endpoints, proxy_id, sequence }: ActivityPayload): ProxyReport => ({
  proxy_id: proxy_id ?? null,
  sequence: sequence ?? 0,
  endpoints: endpoints
    .filter(({ endpoint_id }) => isStorable(endpoint_id))
    .map(({ busy, connections, endpoint_id, generation, idle_ms }) => ({
      endpoint_id,
      generation,
      connections,
      busy: proxy_id === undefined ? connections : (busy ?? connections),
      idle_ms: proxy_id === undefined ? 0 : (idle_ms ?? 0)
    }))
})

const isReason = Schema.is(RefusalReason)

/** The report of a proxy's refused clients. Entries that this version cannot read are left out, and the others count. */
const refusalsOf = ({ proxy_id, refusals, sequence }: RefusalsPayload): RefusalReport => ({
  proxy_id,
  sequence,
  refusals: refusals.flatMap(({ address: text, endpoint_id, reason, role = null, ...counted }) => {
    const address = canonicalAddress(text)
    return address === null || !isStorable(endpoint_id) || !isReason(reason)
      ? []
      : [{ ...counted, address, endpoint_id, reason, role }]
  })
})

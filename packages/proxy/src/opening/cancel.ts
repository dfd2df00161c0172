/**
 * CANCEL: passes the same allowlist as a connection and never wakes. The client gets no answer, whatever the outcome.
 *
 * A key that this proxy does not know is handed to the others through the control plane. The proxy that has the session checks the
 * client's address, which the first one has seen, and forwards the request.
 */
import { networkOf } from "@narthex/core"
import { Exit } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import type { Dialler } from "../compute/connectCompute.ts"
import { type Cancel, failureOf } from "../control-plane/Run.ts"
import { type Address, parsePeer } from "../networks/Address.ts"
import { countIn } from "../outcomes/AuditTrail.ts"
import { type CancelTarget, forwardCancel, hashOf } from "../relay/CancelKeys.ts"
import { allow, type NotAllowed, refuse } from "./allow.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"
import type { SharedState } from "./SharedState.ts"

/** A cancel request of a client. */
export const cancel = (client: OpeningConnection, peer: Address, key: Buffer) => {
  const { shared } = client
  const key_hash = hashOf(key)
  const target = shared.cancelKeys.find(key_hash)
  const over = (event: string) => {
    countIn(shared.context, event)
    client.leave()
  }
  if (target !== undefined) return client.wait<string>((done) => forward(shared, target, peer, client, done), over)
  const [one, all] = [shared.handedOver, shared.handedOverInAll]
  if (!one.take(networkOf(peer.text), shared.now()) || !all.take("", shared.now())) return over("cancel_unknown")
  return client.wait<Exit.Exit<void, unknown>>(
    (done) => shared.run(shared.cancelElsewhere({ key_hash, client_address: peer.text }), done),
    () => over("cancel_handed_over")
  )
}

/** A cancel request that has reached another proxy. */
export const cancelHere = (
  shared: SharedState,
  { client_address, key_hash }: { readonly client_address: string; readonly key_hash: string }
): void => {
  const target = shared.cancelKeys.find(key_hash)
  const peer = parsePeer(client_address)
  if (target === undefined || peer === undefined) return
  const dialler: Dialler = { compute: undefined }
  forward(shared, target, peer, dialler, (event) => countIn(shared.context, event))
}

/** ALLOW, and then the compute. `done` gets the event. */
const forward = (
  shared: SharedState,
  target: CancelTarget,
  peer: Address,
  dialler: Dialler,
  done: (event: string) => void
): Cancel => {
  const candidate = { endpoint_id: target.endpoint_id, project_id: target.project_id, peer }
  let forwarding: Cancel | undefined
  const checking = allow(shared, candidate, (allowed: Exit.Exit<Admitted, NotAllowed>) => {
    if (Exit.isSuccess(allowed)) {
      forwarding = forwardCancel(allowed.value, target, dialler, () => done("cancel_forwarded"))
      return
    }
    const why = failureOf(allowed)
    if (why !== undefined) refuse(shared, candidate, undefined, why)
    done("cancel_refused")
  })
  return () => {
    checking()
    forwarding?.()
  }
}

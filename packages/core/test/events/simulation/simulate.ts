/**
 * One story of a small world with everything that can go wrong in it: random interleavings of commits, bursts,
 * blocked readers, broken connections, crashes, draining instances, outages, a log that forgets, and revocations.
 * Ends calmly, and then every client must have all there is.
 */
import { Effect } from "effect"
import { ApiKeyId, OrgId, ProjectId, SessionId, UserId } from "../../../src/Ids.ts"
import { allowlistChanged } from "../../../src/records/allowlist/AllowlistChange.ts"
import type { NewEvent } from "../../../src/records/events/Envelope.ts"
import { noEvent } from "../../../src/records/events/EventId.ts"
import {
  apiKeyRevoked,
  membershipRevoked,
  organizationRevoked,
  projectRevoked,
  sessionRevoked,
  userRevoked
} from "../../../src/records/events/InternalEvents.ts"
import type { StreamAccess } from "../../../src/services/events/streams/StreamAccess.ts"
import { StreamAuthority } from "../../../src/services/events/streams/StreamAuthority.ts"
import { SimClient } from "./SimClient.ts"
import { SimFleet } from "./SimFleet.ts"
import { SimLog } from "./SimLog.ts"
import { SimLoop } from "./SimLoop.ts"
import { simSettings } from "./simSettings.ts"

const orgs = [OrgId.make("org-a"), OrgId.make("org-a"), OrgId.make("org-a"), OrgId.make("org-b")]
const users = [UserId.make("user-0"), UserId.make("user-1"), UserId.make("user-2")]
const projects = [ProjectId.make("prj-1"), ProjectId.make("prj-2")]
const types = ["operation.updated.v1", "other.v1"]
/** The next steps of a world. A step that is listed more often happens more often. */
const agenda = [
  ...(["some", "some", "some", "some", "some", "some", "burst", "burst", "block", "block", "block", "block"] as const),
  ...(["cut", "cut", "stop", "revoke", "disturb", "herd", "forget"] as const)
]
const paddings = Array.from({ length: 40 }, (_, length) => "é".repeat(length))
const tooLarge = "é".repeat(400)

export interface Story {
  readonly events: number
  readonly gaps: number
  readonly overflows: number
  readonly revoked: number
  readonly drained: number
  readonly connections: number
  readonly refusals: number
  readonly beats: number
  readonly crashes: number
  /** Every line that the clients got. */
  readonly trace: string
}

export const simulate = (seed: number): Story => {
  const loop = new SimLoop(seed)
  const log = new SimLog(loop)
  const population = 2 + loop.pick([0, 0, 1, 2])
  const settings = simSettings(loop, population)
  const { ring_events } = settings

  const clients = Array.from({ length: population }, (_, index) => {
    const project_id = loop.pick([null, ...projects])
    const key = loop.once(3)
    const access: StreamAccess = {
      org_id: loop.pick(orgs),
      project_id,
      principal: {
        user_id: loop.pick(users),
        session_id: key ? null : SessionId.make(`session-${index}`),
        api_key_id: key ? ApiKeyId.make(`key-${index}`) : null,
        secret: null,
        project_id: key && loop.once(2) ? project_id : null,
        branch_id: null
      }
    }
    const options = { access, types: loop.once(3) ? types.slice(0, 1) : [], bookmarks: loop.once(2) }
    const from = loop.once(4) ? undefined : noEvent
    return new SimClient(options, from, log, settings.ring_bytes > 10_000 ? ring_events : undefined)
  })

  const authority = StreamAuthority.of({
    permits: (access) =>
      loop.answer(2, 40, () =>
        Effect.succeed(clients.some((client) => client.options.access === access && !client.barred))
      )
  })
  const fleet = new SimFleet(loop, log, settings, authority)
  const blocked = new Set(clients.filter(() => loop.once(4)))

  let stated = 0
  const event = (scope?: StreamAccess): NewEvent => {
    const unnamable = loop.once(30)
    const large = loop.once(25)
    return {
      org_id: scope?.org_id ?? loop.pick(orgs),
      project_id: scope?.project_id ?? (loop.once(5) ? null : loop.pick(projects)),
      type: unnamable ? "Bad\ntype" : loop.pick(types),
      source: "simulation",
      internal: false,
      data: { n: stated++, poison: unnamable || large, padding: large ? tooLarge : loop.pick(paddings) }
    }
  }
  const hidden = () => allowlistChanged(loop.pick(orgs), { project_id: loop.pick(projects), version: 1 })
  const commit = (count: number) =>
    log.commit(Array.from({ length: count }, () => (loop.once(12) ? hidden() : event())))

  const revoke = (client: SimClient) => {
    if (client.barred) return
    const { access } = client.options
    const { event: revocation, hits } = loop.pick(revocations(access))
    if (loop.once(2)) {
      if (loop.once(3)) fleet.crash()
      fleet.disconnect(client)
      fleet.connect(client) // its right is looked up just before it ends
      loop.advance(loop.below(60))
    }
    for (const other of clients) {
      if (!hits(other.options.access)) continue
      other.barredAt = Math.min(other.barredAt, loop.now)
      other.revokedBy ??= revocation?.data
    }
    if (revocation !== undefined) log.commit([event(access), revocation, event(access), event(access)])
    if (loop.once(2)) log.sequence() // another instance was quicker than all of these
  }

  /** All clients reconnect at once. */
  const herd = () => {
    for (const client of clients) {
      fleet.disconnect(client)
      fleet.connect(client)
    }
  }

  /** Clients that read do; those that lost their stream come back, and some do although they may not. */
  const live = (calm: boolean) => {
    fleet.inspect()
    for (const client of clients) {
      if (!fleet.connected(client)) {
        if (calm ? client.barred : !loop.once(3)) continue
        if (loop.once(8)) client.rewinds(loop.chance())
        fleet.connect(client)
      } else if (calm) fleet.sinkOf(client)?.read(Number.POSITIVE_INFINITY)
      else if (!blocked.has(client)) fleet.sinkOf(client)?.read(1 + loop.below(2_000))
    }
  }

  const acts: Record<(typeof agenda)[number], () => void> = {
    some: () => commit(1 + loop.below(3)),
    burst: () => commit(ring_events + loop.below(ring_events)),
    block: () => toggle(blocked, loop.pick(clients)),
    cut: () => fleet.disconnect(loop.pick(clients)),
    stop: () => (loop.once(2) ? fleet.crash() : fleet.drain()),
    revoke: () => revoke(loop.pick(clients)),
    disturb: () => fleet.disturb(),
    herd,
    forget: () => log.forget(loop.below(1_000), ring_events)
  }

  const steps = 3 + loop.below(7)
  for (let step = 0; step < steps; step++) {
    acts[loop.pick(agenda)]()
    live(false)
    if (loop.once(30)) loop.sleep(loop.below(6_000))
    loop.advance(loop.once(6) ? loop.below(1_500) : loop.below(80))
    if (loop.once(3)) fleet.calm()
  }

  fleet.calm()
  log.calm = true
  const unfinished = (client: SimClient) => {
    const open = fleet.sinkOf(client)?.open === true
    return client.barred ? open : !open || client.behind !== undefined
  }
  for (
    let calm = 0;
    calm < 2 || (calm < 200 && clients.some((client) => unfinished(client) && (client.barred || calm < 60)));
    calm++
  ) {
    live(true)
    loop.advance(250)
  }
  for (const client of clients)
    if (unfinished(client)) throw new Error(`A client is at ${client.position} and never got ${client.behind?.id}.`)

  fleet.stop()

  const sum = (of: (client: SimClient) => number) => clients.reduce((total, client) => total + of(client), 0)
  const closed = (reason: string) => sum(({ closings }) => closings.filter((it) => it === reason).length)
  return {
    events: sum(({ seen }) => seen.events),
    gaps: sum(({ seen }) => seen.gaps),
    overflows: sum(({ seen }) => seen.overflows),
    revoked: closed("revoked"),
    drained: closed("draining"),
    connections: sum(({ seen }) => seen.connections),
    refusals: fleet.refusals,
    beats: sum(({ seen }) => seen.beats),
    crashes: fleet.crashes,
    trace: clients.map((client) => client.trace.toString(36)).join()
  }
}

/** The ways in which a right can end, the streams that each ends, and its event in the log; `undefined`: none. */
const revocations = ({ org_id, principal, project_id }: StreamAccess) => {
  const { api_key_id, session_id, user_id } = principal
  const forms: Array<{ readonly event: NewEvent | undefined; readonly hits: (access: StreamAccess) => boolean }> = [
    {
      event: membershipRevoked(org_id, user_id),
      hits: (other) => other.org_id === org_id && other.principal.user_id === user_id
    },
    { event: userRevoked(org_id, user_id), hits: (other) => other.principal.user_id === user_id },
    { event: undefined, hits: (other) => other.principal === principal },
    { event: organizationRevoked(org_id), hits: (other) => other.org_id === org_id }
  ]
  if (session_id !== null)
    forms.push({
      event: sessionRevoked(org_id, session_id),
      hits: (other) => other.principal.session_id === session_id
    })
  if (api_key_id !== null)
    forms.push({ event: apiKeyRevoked(org_id, api_key_id), hits: (other) => other.principal.api_key_id === api_key_id })
  if (project_id !== null)
    forms.push({
      event: projectRevoked(org_id, project_id),
      hits: (other) => other.project_id === project_id || other.principal.project_id === project_id
    })
  return forms
}

const toggle = <A>(set: Set<A>, item: A) => {
  if (!set.delete(item)) set.add(item)
}

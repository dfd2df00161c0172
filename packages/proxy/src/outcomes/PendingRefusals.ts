/**
 * The refused clients that were not reported yet, one entry for each address and endpoint. Pure counting.
 *
 * Clients decide how many refusals there are, so the number of entries is bounded, for each project and in all. Beyond
 * a bound the oldest entry goes: of the project, or of the project that has the most, so that a flood at one project
 * does not hide a refusal at another.
 */
import { maxRefusals } from "@narthex/api"
import type { EndpointId, ProjectId, RefusalReason } from "@narthex/core"

/** One refusal. `role` is what the client named, if it has the form of a minted role. */
export interface RefusedConnection {
  readonly project_id: ProjectId
  readonly endpoint_id: EndpointId
  readonly address: string
  readonly role: string | undefined
  readonly reason: RefusalReason
}

/** Refusals of one address at one endpoint. Role and reason are those of the last one. */
export interface PendingRefusal extends Omit<RefusedConnection, "project_id"> {
  readonly count: number
  /** In milliseconds of the clock that `add` was given. */
  readonly first: number
  readonly last: number
}

/** The most entries of a project. */
export const mostOfProject = 50

export class PendingRefusals {
  /** The entries of each project, the least recently refused first. */
  readonly #projects = new Map<ProjectId, Map<string, PendingRefusal>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** How many projects have an entry. */
  get projects(): number {
    return this.#projects.size
  }

  /** `now` in milliseconds of a monotonic clock. */
  add({ project_id, ...refused }: RefusedConnection, now: number): void {
    const entries = this.#projects.get(project_id) ?? new Map<string, PendingRefusal>()
    this.#projects.set(project_id, entries)
    const key = `${refused.endpoint_id} ${refused.address}`
    const former = entries.get(key)
    // Deleted first, so that the map stays in the order of the last refusals.
    entries.delete(key)
    entries.set(key, { ...refused, count: (former?.count ?? 0) + 1, first: former?.first ?? now, last: now })
    if (former !== undefined) return
    this.#size++
    if (entries.size > mostOfProject) this.#dropOldest(project_id)
    else if (this.#size > maxRefusals) this.#dropOldest(this.#largest())
  }

  /** Removes and returns every entry. */
  take(): ReadonlyArray<PendingRefusal> {
    const taken = [...this.#projects.values()].flatMap((entries) => [...entries.values()])
    this.#projects.clear()
    this.#size = 0
    return taken
  }

  /** The project with the most entries; of several the one that was refused first. */
  #largest(): ProjectId {
    return [...this.#projects].reduce((a, b) => (b[1].size > a[1].size ? b : a))[0]
  }

  #dropOldest(project: ProjectId): void {
    const entries = this.#projects.get(project)
    const [oldest] = entries?.keys() ?? []
    if (entries === undefined || oldest === undefined) return
    entries.delete(oldest)
    this.#size--
    if (entries.size === 0) this.#projects.delete(project)
  }
}

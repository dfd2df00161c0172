/**
 * The entries of a ring that a stream sends: of the organization or of one project, of all types or of some. Streams
 * with the same selection share one filter, and with it their slices.
 */

/** The project number of a filter that passes all projects, and events without one. */
export const anyProject = -2
/** The type that passes every filter. */
export const brokerType = "error.v1"

/** Some entries from a cursor on, up to `to`. `bytes` is undefined when none of them passes. */
export interface RingSlice {
  readonly to: number
  readonly bytes: Uint8Array | undefined
  /** How many events the bytes hold. */
  readonly events: number
}

export class RingFilter {
  readonly key: string
  readonly project: number
  readonly #types: ReadonlySet<string> | null
  readonly #typeNames: ReadonlyArray<string>
  users = 0
  /** The slice made last: most streams are at the same cursor. */
  last: { readonly from: number; readonly slice: RingSlice } | undefined

  /** `typeNames` is the ring's own list, which grows. */
  constructor(key: string, project: number, types: ReadonlyArray<string>, typeNames: ReadonlyArray<string>) {
    this.key = key
    this.project = project
    this.#types = types.length === 0 ? null : new Set([...types, brokerType])
    this.#typeNames = typeNames
  }

  /** Whether it passes every entry: adjacent entries are then one write without a copy. */
  get whole(): boolean {
    return this.project === anyProject && this.#types === null
  }

  passes(project: number, type: number): boolean {
    if (this.project !== anyProject && this.project !== project) return false
    return this.#types === null || this.#types.has(this.#typeNames[type] ?? "")
  }
}

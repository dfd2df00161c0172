/**
 * What a stream wants of a ring: all of an organization or one project, all types or some. Streams that want the
 * same share one filter, and with it their slices.
 */
import { hidden } from "./RingSegment.ts"
import type { SseBytes } from "./SseBytes.ts"

/** Stands for all projects, and for those events that have none. */
export const anyProject = -2
/** The name that no filter of types hides. */
export const brokerType = "error.v1"

/** Some entries from a cursor on. Without bytes, nothing among them was wanted. */
export interface RingSlice {
  readonly to: number
  readonly bytes: SseBytes | undefined
  /** How many events the bytes hold. */
  readonly events: number
}

export class RingFilter {
  readonly key: string
  readonly project: number
  readonly #types: ReadonlySet<string> | null
  readonly #typeNames: ReadonlyArray<string>
  users = 0
  /** The slice made last: most streams stand at one cursor. */
  last: { readonly from: number; readonly end: number; readonly slice: RingSlice } | undefined

  /** `typeNames` is the ring's own list, which grows. */
  constructor(key: string, project: number, types: ReadonlyArray<string>, typeNames: ReadonlyArray<string>) {
    this.key = key
    this.project = project
    this.#types = types.length === 0 ? null : new Set([...types, brokerType])
    this.#typeNames = typeNames
  }

  /** Does it want everything there is? Then entries can be taken as they lie. */
  get whole(): boolean {
    return this.project === anyProject && this.#types === null
  }

  passes(project: number, type: number): boolean {
    if (type === hidden) return false
    if (this.project !== anyProject && this.project !== project) return false
    return this.#types === null || this.#types.has(this.#typeNames[type] ?? "")
  }
}

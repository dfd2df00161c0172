/** A result of an examination: a sentence about a part, which for a mistake says what to do. */
import type { Effect } from "effect"

export interface Finding {
  readonly state: "ok" | "warning" | "wrong"
  readonly part: string
  readonly text: string
}

/** Never fails: a failure is what it looks for. */
export type Examination = Effect.Effect<ReadonlyArray<Finding>>

const finding =
  (state: Finding["state"]) =>
  (part: string, text: string): Finding => ({ state, part, text })

export const fine = finding("ok")
export const warning = finding("warning")
export const wrong = finding("wrong")

/** A state: a dot and a word. The colour adds no information. */
import type { ComponentChildren } from "preact"
import type { Tone } from "./tone.ts"

export const State = ({ children, tone }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`state ${tone}`}>{children}</span>
)

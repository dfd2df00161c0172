/** What clients are told of a tool before they call it. They are hints: what a call may do is decided elsewhere. */
import { Context } from "effect"
import { Tool } from "effect/ai"

const hints = (readonly: boolean, destructive: boolean, idempotent: boolean) =>
  Context.make(Tool.Readonly, readonly).pipe(
    Context.add(Tool.Destructive, destructive),
    Context.add(Tool.Idempotent, idempotent),
    Context.add(Tool.OpenWorld, false)
  )

export const reads = hints(true, false, true)
export const adds = hints(false, false, false)
export const destroys = hints(false, true, false)

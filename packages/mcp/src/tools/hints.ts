/** Hints for clients, before they call a tool. The API and the database decide what a call may do. */
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

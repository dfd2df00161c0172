/** Says that a list goes on, for a list that was read up to a limit. */
import { Effect } from "effect"
import { Output } from "../output/Output.ts"

export const noteMore = ({ pagination }: { readonly pagination: { readonly next_cursor: string | null } }) =>
  pagination.next_cursor === null
    ? Effect.void
    : Effect.flatMap(Output, (output) => output.note(`There are more: --limit, or --cursor ${pagination.next_cursor}`))

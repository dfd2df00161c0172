/**
 * Where a page begins, as the bound of an index: `id < $n` newest first, `id > $n` oldest first.
 *
 * Pitfall: `$n is null or id < $n`. The plan that Postgres keeps for all values reads and discards every row before the
 * page.
 */
import type { PageRequest } from "@narthex/core"

/** Ids are ASCII letters, digits and hyphens, compared by byte: every id is before `~` and behind the empty text. */
const [last, first] = ["~", ""]

export const olderThan = ({ after }: PageRequest): string => after ?? last
export const newerThan = ({ after }: PageRequest): string => after ?? first

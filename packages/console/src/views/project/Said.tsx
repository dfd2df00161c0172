/** Operations as sentences: who did what to which branch, how long it took, and why it failed. */
import { between, type Names, noNames, sentenceOf, tookWords } from "../eventWords.ts"
import { type FeedItem, Parts } from "../Feed.tsx"
import type { BranchShown, OperationShown, ProjectShown } from "../records.ts"

/** The names that sentences about one project use. */
export const namesIn = (
  project: ProjectShown,
  branches: ReadonlyArray<BranchShown>,
  people: Names["people"] = noNames.people
): Names => ({
  people,
  projects: new Map([[project.id, project.name]]),
  branches: new Map(branches.map(({ id, name, parent_id }) => [id, { name, parent_id }]))
})

/** Milliseconds that it ran; `null`: it has not begun, or not ended. */
const took = ({ finished_at, started_at }: OperationShown): number | null =>
  started_at === null || finished_at === null ? null : between(started_at, finished_at)

/** How long it ran, as words; `""`: it has not begun, or not ended. */
export const duration = (operation: OperationShown): string => {
  const milliseconds = took(operation)
  return milliseconds === null ? "" : tookWords(milliseconds)
}

export const Said = ({ names, operation }: { readonly operation: OperationShown; readonly names: Names }) => (
  <Parts parts={sentenceOf(operation, names).parts} />
)

/** An operation as an entry of a feed. */
export const feedItem = (operation: OperationShown, names: Names): FeedItem => ({
  key: operation.id,
  sentence: sentenceOf(operation, names),
  at: operation.updated_at,
  took: took(operation)
})

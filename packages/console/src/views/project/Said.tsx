/** Operations as sentences: who did what to which branch, how long it took, and why it failed. */
import { State } from "../../components/State.tsx"
import { Ago } from "../../components/Times.tsx"
import { between, type Names, noNames, sentenceOf, tookWords } from "../eventWords.ts"
import type { BranchShown, OperationShown, ProjectShown } from "../records.ts"

/** The names that sentences about one project use. */
export const namesIn = (project: ProjectShown, branches: ReadonlyArray<BranchShown>): Names => ({
  ...noNames,
  projects: new Map([[project.id, project.name]]),
  branches: new Map(branches.map(({ id, name, parent_id }) => [id, { name, parent_id }]))
})

/** How long it ran; `null`: it has not begun, or not ended. */
export const duration = ({ finished_at, started_at }: OperationShown): string | null =>
  started_at === null || finished_at === null ? null : tookWords(between(started_at, finished_at))

export const Said = ({ names, operation }: { readonly operation: OperationShown; readonly names: Names }) => (
  <>
    {sentenceOf(operation, names).parts.map((part, index) =>
      typeof part === "string" ? part : <b key={index}>{part.name}</b>
    )}
  </>
)

export interface HistoryProps {
  readonly operations: ReadonlyArray<OperationShown>
  readonly names: Names
}

/** The newest operations of a project. */
export const History = ({ names, operations }: HistoryProps) =>
  operations.length === 0 ? (
    <p class="soft">Nothing has happened yet.</p>
  ) : (
    <ol class="history">
      {operations.map((operation) => {
        const { error, tone } = sentenceOf(operation, names)
        const took = duration(operation)
        return (
          <li key={operation.id} data-operation={operation.id}>
            <State tone={tone}>
              <span class="said">
                <Said operation={operation} names={names} />
              </span>
            </State>
            <span class="under">
              {error === null ? null : <span class="bad">{error} </span>}
              {took === null ? null : `${took} · `}
              <Ago at={operation.updated_at} />
            </span>
          </li>
        )
      })}
    </ol>
  )

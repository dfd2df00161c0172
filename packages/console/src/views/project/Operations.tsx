/** The operations of a project: what was done, by whom, how long it took, why it failed. */
import { Empty } from "../../components/Empty.tsx"
import { Pager } from "../../components/Pager.tsx"
import { State } from "../../components/State.tsx"
import { Table } from "../../components/Table.tsx"
import { Ago } from "../../components/Times.tsx"
import { Page } from "../../shell/Page.tsx"
import { sentenceOf } from "../eventWords.ts"
import { queryOf } from "../queryOf.ts"
import { type BranchShown, type EndpointShown, type OperationShown, words } from "../records.ts"
import { isFiltered, OperationFilterForm, type OperationFilterShown } from "./OperationFilterForm.tsx"
import { inSection, mayChange, type ProjectPageProps, pathOf } from "./ProjectFrame.ts"
import { duration, namesIn, Said } from "./Said.tsx"

export interface OperationsPageProps extends ProjectPageProps {
  readonly operations: ReadonlyArray<OperationShown>
  /** The names of the people who began them, by their ids. */
  readonly people: ReadonlyMap<string, string>
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly filter: OperationFilterShown
  readonly next_cursor: string | null
  /** The cursor of the page itself; `null`: the newest. */
  readonly cursor: string | null
}

/** Promises of the platform, which are not cancelled (docs/design/operations.md O17). */
const kept = new Set(["delete_timeline", "delete_compute", "apply_config"])

const mayBeCancelled = ({ action, status }: OperationShown): boolean =>
  (status === "scheduling" || status === "running") && !kept.has(action)

/** A status as people say it. */
const statusWord = (status: string): string =>
  status === "scheduling" ? "waiting" : status === "error" ? "failed" : words(status)

export const OperationsPage = (props: OperationsPageProps) => {
  const { branches, cursor, filter, frame, next_cursor, operations, people, project } = props
  const here = `${pathOf(props)}/operations`
  const names = namesIn(project, branches, people)
  const change = mayChange(frame)
  const at = (cursor: string | null) => `${here}${queryOf({ ...filter, cursor: cursor ?? "" })}`
  return (
    <Page
      {...inSection(props, "operations")}
      title="Operations"
      lead={<span>Work that takes time: branches that are copied, computes that start and stop.</span>}
      live={
        cursor === null ? { src: `/api/projects/${project.id}/events`, page: at(null), regions: ["operations"] } : null
      }
    >
      <OperationFilterForm
        here={here}
        filter={filter}
        branches={branches}
        endpoints={props.endpoints}
        shows="operations-filter operations operations-pages live"
      />
      <div class="stack" id="operations">
        <Table
          label="Operations"
          columns={[
            { head: "What" },
            { head: "State", phone: "aside" },
            { head: "Took", align: "end" },
            { head: "When", align: "end" },
            { head: "Actions", quiet: true, align: "end" }
          ]}
          rows={operations.map((operation) => {
            const { error, tone } = sentenceOf(operation, names)
            return {
              key: operation.id,
              cells: [
                <>
                  <span class="said">
                    <Said operation={operation} names={names} />
                  </span>
                  {error === null ? null : <span class="under bad">{error}</span>}
                </>,
                <State tone={tone}>{statusWord(operation.status)}</State>,
                duration(operation),
                <Ago at={operation.created_at} />,
                change && mayBeCancelled(operation) ? (
                  <form method="post" action={`${here}/${operation.id}/cancel${queryOf({ ...filter })}`}>
                    <button type="submit" id={`cancel-${operation.id}`}>
                      Cancel
                    </button>
                  </form>
                ) : (
                  ""
                )
              ]
            }
          })}
          empty={
            isFiltered(filter) ? (
              <Empty title="No operation matches">
                <p>
                  <a href={here}>Show all operations</a>
                </p>
              </Empty>
            ) : (
              <Empty title="No operations">
                <p>Nothing has happened in this project yet.</p>
              </Empty>
            )
          }
        />
      </div>
      <div id="operations-pages">
        <Pager next={next_cursor === null ? null : at(next_cursor)} previous={cursor === null ? null : at(null)} />
      </div>
    </Page>
  )
}

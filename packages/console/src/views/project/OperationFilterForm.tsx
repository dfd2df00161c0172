/**
 * The filter of the operations page, and the form that changes it (docs/design/console.md W50). The filter is in
 * the address, so it needs no script and can be shared.
 */
import { Filter } from "../../components/Filter.tsx"
import { actionChoices, shortId, statusChoices } from "../eventWords.ts"
import type { BranchShown, EndpointShown } from "../records.ts"
import { typeWords } from "./EndpointTable.tsx"

/** `""`: not filtered by this. */
export interface OperationFilterShown {
  readonly status: string
  readonly action: string
  /** The id of a branch. */
  readonly branch: string
  /** The id of an endpoint. */
  readonly endpoint: string
}

export interface OperationFilterFormProps {
  /** The path of the operations page, without a filter. */
  readonly here: string
  readonly filter: OperationFilterShown
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  /** The ids of the elements that depend on the filter. */
  readonly shows: string
}

const choicesOf = (all: string, words: Readonly<Record<string, string>>) => [
  { value: "", label: all },
  ...Object.entries(words).map(([value, label]) => ({ value, label }))
]

export const isFiltered = (filter: OperationFilterShown): boolean => Object.values(filter).some((it) => it !== "")

/** The names by id, and the chosen id, whose object may be deleted, or older than the objects that were read. */
const withChosen = (names: Readonly<Record<string, string>>, chosen: string): Readonly<Record<string, string>> =>
  chosen === "" || Object.hasOwn(names, chosen) ? names : { ...names, [chosen]: shortId(chosen) }

/** Branch and type of each endpoint, and the id where several have the same. */
const endpointNames = (endpoints: ReadonlyArray<EndpointShown>, branches: Readonly<Record<string, string>>) => {
  const nameOf = ({ branch_id, type }: EndpointShown) =>
    `${branches[branch_id] ?? shortId(branch_id)}, ${typeWords(type)}`
  const count = Map.groupBy(endpoints, nameOf)
  return Object.fromEntries(
    endpoints.map((endpoint) => {
      const name = nameOf(endpoint)
      return [endpoint.id, count.get(name)?.length === 1 ? name : `${name}, ${shortId(endpoint.id)}`]
    })
  )
}

/** One row. A choice is shown at once, or after *Show* without script. */
export const OperationFilterForm = ({ branches, endpoints, filter, here, shows }: OperationFilterFormProps) => {
  const names = Object.fromEntries(branches.map(({ id, name }) => [id, name]))
  const { action, branch, endpoint, status } = filter
  return (
    <form
      method="get"
      action={here}
      class="pick filter"
      id="operations-filter"
      aria-label="Filter operations"
      data-shows={shows}
      autocomplete="off"
    >
      <Filter name="action" label="Action" choices={choicesOf("Any action", actionChoices)} value={action} />
      <Filter name="status" label="State" choices={choicesOf("Any state", statusChoices)} value={status} />
      <Filter
        name="branch"
        label="Branch"
        choices={choicesOf("Any branch", withChosen(names, branch))}
        value={branch}
      />
      <Filter
        name="endpoint"
        label="Endpoint"
        choices={choicesOf("Any endpoint", withChosen(endpointNames(endpoints, names), endpoint))}
        value={endpoint}
      />
      <noscript>
        <button type="submit">Show</button>
      </noscript>
      {isFiltered(filter) ? <a href={here}>Show all</a> : null}
    </form>
  )
}

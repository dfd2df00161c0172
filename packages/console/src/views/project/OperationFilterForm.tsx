/**
 * What the operations page is filtered by, and the form that changes it (docs/design/console.md W50). The filter is in
 * the address, so it needs no script and can be shared.
 */
import { Field } from "../../components/Field.tsx"
import { actionChoices, shortId, statusChoices } from "../eventWords.ts"
import type { BranchShown } from "../records.ts"

/** `""`: not filtered by this. */
export interface OperationFilterShown {
  readonly status: string
  readonly action: string
  /** The id of a branch. */
  readonly branch: string
}

export interface OperationFilterFormProps {
  /** The path of the operations page, without a filter. */
  readonly here: string
  readonly filter: OperationFilterShown
  readonly branches: ReadonlyArray<BranchShown>
}

const choicesOf = (all: string, words: Readonly<Record<string, string>>) => [
  { value: "", label: all },
  ...Object.entries(words).map(([value, label]) => ({ value, label }))
]

export const isFiltered = (filter: OperationFilterShown): boolean => Object.values(filter).some((it) => it !== "")

export const OperationFilterForm = ({ branches, filter, here }: OperationFilterFormProps) => {
  const names = Object.fromEntries(branches.map(({ id, name }) => [id, name]))
  // A branch that is deleted, or older than those that are read, stays the choice.
  const other =
    filter.branch === "" || Object.hasOwn(names, filter.branch) ? {} : { [filter.branch]: shortId(filter.branch) }
  return (
    <form method="get" action={here} class="inline-form" aria-label="Filter operations">
      <Field name="status" label="State" choices={choicesOf("Any state", statusChoices)} value={filter.status} />
      <Field name="action" label="What" choices={choicesOf("Everything", actionChoices)} value={filter.action} />
      <Field
        name="branch"
        label="Branch"
        choices={choicesOf("All branches", { ...names, ...other })}
        value={filter.branch}
      />
      <button type="submit">Show</button>
      {isFiltered(filter) ? <a href={here}>Show all</a> : null}
    </form>
  )
}

/** One choice of a filter: a select whose first option says what it filters, so that its label is for screen readers. */
import type { ChoiceProps } from "./Choice.tsx"

export type FilterProps = Pick<ChoiceProps, "choices" | "label" | "name" | "value">

export const Filter = ({ choices, label, name, value }: FilterProps) => (
  <>
    <label class="hidden" htmlFor={`filter-${name}`}>
      {label}
    </label>
    <select id={`filter-${name}`} name={name}>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value} selected={choice.value === value}>
          {choice.label}
        </option>
      ))}
    </select>
  </>
)

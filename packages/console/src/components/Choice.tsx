/** A labelled select. */
import { Described, describedBy, type Labelled } from "./Labelled.tsx"

export interface ChoiceProps extends Labelled {
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>
  /** The choice that is selected. */
  readonly value: string
  readonly required?: boolean
  /** The ids of the elements that depend on the choice, which are shown at once. */
  readonly shows?: string
}

export const Choice = ({ choices, error, hint, id, label, name, required, shows, value }: ChoiceProps) => {
  const key = id ?? name
  return (
    <div class="field">
      <label htmlFor={key}>{label}</label>
      <select id={key} name={name} required={required} data-shows={shows} {...describedBy(key, hint, error)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Described id={key} hint={hint} error={error} />
    </div>
  )
}

/** A labelled checkbox. The form has `name=value` when it is checked. */
import { Described, describedBy, type Labelled } from "./Labelled.tsx"

export interface CheckboxProps extends Labelled {
  readonly checked?: boolean
  /** Left out: `true`. */
  readonly value?: string
}

export const Checkbox = ({ checked, error, hint, id, label, name, value = "true" }: CheckboxProps) => {
  const key = id ?? name
  return (
    <div class="check">
      <input type="checkbox" id={key} name={name} value={value} checked={checked} {...describedBy(key, hint, error)} />
      <label htmlFor={key}>{label}</label>
      <Described id={key} hint={hint} error={error} />
    </div>
  )
}

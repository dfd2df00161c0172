/** A labelled text field, or a select when it has `choices`, with its hint and error. */
import { Choice, type ChoiceProps } from "./Choice.tsx"
import { Described, describedBy, type Labelled } from "./Labelled.tsx"

export interface TextFieldProps extends Labelled {
  readonly value?: string
  readonly required?: boolean
  readonly maxLength?: number
  readonly placeholder?: string
  /** Whether the field has the focus when the page opens. */
  readonly autofocus?: boolean
  readonly inputMode?: "numeric" | "text" | "email"
  /** A regular expression that the whole value has to match. */
  readonly pattern?: string
}

export const Field = (props: TextFieldProps | ChoiceProps) =>
  "choices" in props ? <Choice {...props} /> : <TextField {...props} />

const TextField = ({ error, hint, id, label, name, ...control }: TextFieldProps) => {
  const key = id ?? name
  return (
    <div class="field">
      <label htmlFor={key}>{label}</label>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        id={key}
        name={name}
        {...describedBy(key, hint, error)}
        {...control}
      />
      <Described id={key} hint={hint} error={error} />
    </div>
  )
}

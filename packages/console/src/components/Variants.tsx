/** Variants of one text, of which one is shown. Radio buttons choose it, so it needs neither script nor another page. */
import { Fragment } from "preact"

export interface VariantsProps {
  /** The name of the choice in a form. */
  readonly name: string
  readonly label: string
  readonly items: ReadonlyArray<{ readonly id: string; readonly label: string; readonly text: string }>
  /** The id of the variant that is shown first. */
  readonly value: string
  /** Whether each has a button that copies it. */
  readonly copied?: boolean
}

export const Variants = ({ copied = false, items, label, name, value }: VariantsProps) => (
  <fieldset class="variants">
    <legend class="hidden">{label}</legend>
    {items.map(({ id, label, text }) => (
      <Fragment key={id}>
        <label htmlFor={`${name}-${id}`}>
          <input type="radio" name={name} value={id} id={`${name}-${id}`} checked={id === value} />
          {label}
        </label>
        <div>
          <pre class="code">
            <code id={`lines-${id}`}>{text}</code>
          </pre>
          {copied ? <copy-button for={`lines-${id}`} label={`Copy the lines for ${label}`} /> : null}
        </div>
      </Fragment>
    ))}
  </fieldset>
)

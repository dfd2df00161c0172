/** Text that people copy, in a monospaced face, with a copy button. Without script: the text only. */
export interface CopyFieldProps {
  readonly id: string
  /** The accessible name of the button. */
  readonly label: string
  readonly text: string
  /** Shown in place of the text, which is copied all the same. */
  readonly short?: string
  /** Dots hide the text until it is copied. */
  readonly masked?: boolean
  /** Fills the width, with a border. */
  readonly wide?: boolean
  /** The title above the text. */
  readonly title?: string
}

export const CopyField = ({ id, label, masked = false, short, text, title, wide = false }: CopyFieldProps) => {
  const field = (
    <span class={wide ? "copy field-like" : "copy"}>
      <code
        id={id}
        class={masked ? "masked" : undefined}
        {...(short === undefined ? {} : { "data-copy": text, title: text })}
      >
        {short ?? text}
      </code>
      <copy-button for={id} label={label} />
    </span>
  )
  if (title === undefined) return field
  return (
    <div>
      <p class="label">{title}</p>
      {field}
    </div>
  )
}

/** The props of every control of a form: name, label, hint, error. */
export interface Labelled {
  readonly name: string
  /** Left out: the name. Needed where two forms of a page have fields of one name. */
  readonly id?: string
  readonly label: string
  readonly hint?: string | undefined
  /** A sentence: what is wrong and what is accepted. */
  readonly error?: string | undefined
}

/** The attributes with which a control names its hint and its error to screen readers. */
export const describedBy = (id: string, hint: string | undefined, error: string | undefined) => {
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`]
  return {
    "aria-invalid": error === undefined ? undefined : ("true" as const),
    "aria-describedby": described.join(" ").trim() || undefined
  }
}

interface DescribedProps {
  readonly id: string
  readonly hint: string | undefined
  readonly error: string | undefined
}

export const Described = ({ error, hint, id }: DescribedProps) => (
  <>
    {hint === undefined ? null : (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    {error === undefined ? null : (
      <p class="error" id={`${id}-error`}>
        {error}
      </p>
    )}
  </>
)

/** The errors of a form that is shown again: first on the page, focused, with a link to each field. */
export interface FieldError {
  /** The id of the field; `""`: the error belongs to none. */
  readonly field: string
  readonly sentence: string
}

export const ErrorSummary = ({ errors }: { readonly errors: ReadonlyArray<FieldError> }) =>
  errors.length === 0 ? null : (
    <section class="errors" id="errors" role="alert" aria-labelledby="errors-title" tabIndex={-1} autofocus>
      <h2 id="errors-title">{errors.length === 1 ? "One thing to correct" : `${errors.length} things to correct`}</h2>
      <ul>
        {errors.map(({ field, sentence }) => (
          <li key={`${field} ${sentence}`}>{field === "" ? sentence : <a href={`#${field}`}>{sentence}</a>}</li>
        ))}
      </ul>
    </section>
  )

/** The errors of a form's fields as the summary lists them. The key `form` belongs to no field. */
export const summaryOf = (
  errors: Readonly<Record<string, string | undefined>> | undefined
): ReadonlyArray<FieldError> =>
  Object.entries(errors ?? {}).flatMap(([field, sentence]) =>
    sentence === undefined ? [] : [{ field: field === "form" ? "" : field, sentence }]
  )

/** The pages of a list that is ordered from the newest to the oldest. */
export interface PagerProps {
  /** The address of the next page; `null`: this is the last. */
  readonly next: string | null
  readonly previous?: string | null
}

export const Pager = ({ next, previous = null }: PagerProps) =>
  next === null && previous === null ? null : (
    <nav class="pager" aria-label="Pages">
      {previous === null ? null : (
        <a class="button" rel="prev" href={previous}>
          Newer
        </a>
      )}
      {next === null ? null : (
        <a class="button" rel="next" href={next}>
          Older
        </a>
      )}
    </nav>
  )

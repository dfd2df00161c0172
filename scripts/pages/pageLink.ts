/** A link to a page of `docs`, from a page of `docs`. The pages are not beside the file that makes the link. */
export const pageLink = (path: string, text: string, heading?: string): string =>
  `[${text}](${path}.md${heading === undefined ? "" : `#${heading}`})`

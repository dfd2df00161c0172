/** A table of Markdown. A bar inside a cell would end it, so it is escaped. */
export const markdownTable = (
  heads: ReadonlyArray<string>,
  cells: ReadonlyArray<ReadonlyArray<string | number>>
): string =>
  [heads, heads.map(() => "---"), ...cells.map((row) => row.map((cell) => String(cell).replace(/(?<!\\)\|/g, "\\|")))]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n")

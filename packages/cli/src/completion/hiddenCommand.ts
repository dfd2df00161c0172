/** The command that completion scripts call. It is not in the tree, so no help shows it. */
export const hiddenCommand = "__complete"

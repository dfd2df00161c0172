/** How the programs of this repository speak on a terminal: help, usage errors, tables. It is not published. */
export { builtInFlags } from "./completion/flagsOfEveryCommand.ts"
export { exitCodes } from "./failures/exitCodes.ts"
export { presenter } from "./output/presenter.ts"
export { printTable } from "./output/printTable.ts"
export { instant, rows, size } from "./output/table.ts"

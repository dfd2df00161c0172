/** The public surface of the command line, for whoever runs it inside another process: re-exports, nothing else. */
export * from "./Environment.ts"
export * from "./environmentTable.ts"
export * from "./exitCodes.ts"
export * from "./login/Browser.ts"
export * from "./narthex.ts"
export * from "./runCli.ts"
export * from "./version.ts"

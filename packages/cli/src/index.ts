/** The public surface of the package: the command line for use inside another process, and its reference tables. */
export { globalFlags } from "./completion/globalFlags.ts"
export { Environment, readEnvironment, type Variables } from "./environment/Environment.ts"
export { defaultUrl, type EnvironmentVariable, environmentTable } from "./environment/environmentTable.ts"
export { version } from "./environment/version.ts"
export { exitCodes } from "./failures/exitCodes.ts"
export { Browser } from "./login/Browser.ts"
export { narthex } from "./narthex.ts"
export { cliLayer, runCli } from "./runCli.ts"

/**
 * The environment variables of the command line. No other module reads `process.env`.
 *
 * An empty variable counts as unset, as everywhere in Narthex. Values are not validated here but by the command that
 * uses them, so that an invalid one does not stop `help` or `logout`.
 */
import { homedir } from "node:os"
import { Context, Layer, Redacted } from "effect"
import { cacheFolder, configFolder } from "./folders.ts"

export type Variables = Readonly<Record<string, string | undefined>>

/** The home directory; the root for a user without one, as in some containers. */
const homeOrRoot = (): string => {
  try {
    return homedir()
  } catch {
    return "/"
  }
}

/** The working folder; the root if it was deleted, so that commands that do not need it still run. */
const workingFolder = (): string => {
  try {
    return process.cwd()
  } catch {
    return "/"
  }
}

export class Environment extends Context.Service<
  Environment,
  {
    /** `NARTHEX_URL`. */
    readonly url: string | undefined
    readonly apiKey: Redacted.Redacted | undefined
    readonly apiKeyFile: string | undefined
    readonly context: string | undefined
    /** `NARTHEX_PROJECT`: the id or the name of a project. */
    readonly project: string | undefined
    readonly consoleUrl: string | undefined
    readonly quietAboutUpdates: boolean
    readonly browser: string | undefined
    /** The folder of the credentials. */
    readonly folder: string
    /** The folder of what can be fetched again. */
    readonly cacheFolder: string
    /** Where the search for a `.narthex` file begins. */
    readonly workingFolder: string
    /** All variables, for programs that narthex starts. */
    readonly inherited: Variables
    readonly platform: string
    /** The session runs over SSH, so the browser is on another machine. */
    readonly remote: boolean
    /** A browser started here would be visible. */
    readonly hasDisplay: boolean
  }
>()("@narthex/cli/Environment") {
  static readonly layer: Layer.Layer<Environment> = Layer.sync(Environment, () =>
    readEnvironment(process.env, { home: homeOrRoot(), platform: process.platform, workingFolder: workingFolder() })
  )
}

interface Machine {
  readonly home: string
  readonly platform: string
  readonly workingFolder: string
}

export const readEnvironment = (variables: Variables, machine: Machine): Environment["Service"] => {
  const set = (name: string): string | undefined => {
    const value = variables[name]?.trim()
    return value === undefined || value === "" ? undefined : value
  }
  const apiKey = set("NARTHEX_API_KEY")
  return {
    url: set("NARTHEX_URL"),
    apiKey: apiKey === undefined ? undefined : Redacted.make(apiKey, { label: "NARTHEX_API_KEY" }),
    apiKeyFile: set("NARTHEX_API_KEY_FILE"),
    context: set("NARTHEX_CONTEXT"),
    project: set("NARTHEX_PROJECT"),
    consoleUrl: set("NARTHEX_CONSOLE_URL"),
    quietAboutUpdates: ["NARTHEX_NO_UPDATE_NOTIFIER", "NO_UPDATE_NOTIFIER", "CI"].some(
      (name) => set(name) !== undefined
    ),
    browser: set("BROWSER"),
    folder: configFolder(set, machine),
    cacheFolder: cacheFolder(set, machine),
    workingFolder: machine.workingFolder,
    inherited: variables,
    platform: machine.platform,
    remote: set("SSH_CONNECTION") !== undefined,
    hasDisplay: machine.platform !== "linux" || set("DISPLAY") !== undefined || set("WAYLAND_DISPLAY") !== undefined
  }
}

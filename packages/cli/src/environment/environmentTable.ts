/** The documented environment variables. `narthex help environment` and the README print this table. */

export interface EnvironmentVariable {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
}

export const defaultUrl = "http://127.0.0.1:4400"

export const environmentTable: ReadonlyArray<EnvironmentVariable> = [
  {
    name: "NARTHEX_URL",
    fallback: defaultUrl,
    meaning: "The base URL of the API. A stored key is sent only to the server that issued it."
  },
  {
    name: "NARTHEX_API_KEY",
    fallback: "",
    meaning: "The credential to use instead of a stored context. --context takes precedence."
  },
  {
    name: "NARTHEX_API_KEY_FILE",
    fallback: "",
    meaning: "A file that contains the credential. NARTHEX_API_KEY takes precedence."
  },
  { name: "NARTHEX_CONTEXT", fallback: "the current context", meaning: "The stored context to use." },
  {
    name: "NARTHEX_PROJECT",
    fallback: "a .narthex file, else the context's project",
    meaning: "The project of commands without --project: its name or its id."
  },
  { name: "NARTHEX_CONSOLE_URL", fallback: "from the API", meaning: "The origin of the console that login opens." },
  {
    name: "NARTHEX_NO_UPDATE_NOTIFIER",
    fallback: "",
    meaning: "Set to any value to disable the notice about newer versions."
  },
  { name: "NO_UPDATE_NOTIFIER", fallback: "", meaning: "The same; other tools read it, too." },
  { name: "NO_COLOR", fallback: "", meaning: "Set to any value to disable colour." },
  { name: "FORCE_COLOR", fallback: "", meaning: "Set to any value but 0 or false to use colour without a terminal." },
  {
    name: "HTTPS_PROXY",
    fallback: "",
    meaning:
      "The HTTP proxy for https servers. HTTP_PROXY, ALL_PROXY and NO_PROXY count, too; servers on loopback have none."
  },
  { name: "BROWSER", fallback: "of the system", meaning: "The command that opens web pages." },
  {
    name: "XDG_CONFIG_HOME",
    fallback: "~/.config, on Windows %APPDATA%",
    meaning: "The folder that contains narthex/credentials.json."
  },
  {
    name: "XDG_CACHE_HOME",
    fallback: "~/.cache, ~/Library/Caches on macOS, %LOCALAPPDATA% on Windows",
    meaning:
      "The folder that contains the compiled form of narthex, which makes its start faster, and names for completion."
  }
]

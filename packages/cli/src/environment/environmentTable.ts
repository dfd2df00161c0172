/** The environment variables that a person sets, once: `narthex help environment` and the README print this table. */

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
    meaning: "The API. A stored key goes only to the server that made it."
  },
  {
    name: "NARTHEX_API_KEY",
    fallback: "",
    meaning: "The credential to use instead of a stored context. --context wins over it."
  },
  {
    name: "NARTHEX_API_KEY_FILE",
    fallback: "",
    meaning: "A file that holds the credential; NARTHEX_API_KEY wins over it."
  },
  { name: "NARTHEX_CONTEXT", fallback: "the current context", meaning: "The stored context to use." },
  { name: "NARTHEX_CONSOLE_URL", fallback: "what the API names", meaning: "The console that login opens." },
  { name: "NARTHEX_NO_UPDATE_NOTIFIER", fallback: "", meaning: "Set to anything: no notice about newer versions." },
  { name: "NO_UPDATE_NOTIFIER", fallback: "", meaning: "The same, as other tools know it." },
  { name: "NO_COLOR", fallback: "", meaning: "Set to anything: no colour." },
  { name: "FORCE_COLOR", fallback: "", meaning: "Set to anything but 0 or false: colour off a terminal too." },
  { name: "BROWSER", fallback: "the system's", meaning: "The command that opens a web page." },
  {
    name: "XDG_CONFIG_HOME",
    fallback: "~/.config",
    meaning: "Holds the folder narthex with credentials.json."
  }
]

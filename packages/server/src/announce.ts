/** The output of a process that is ready: addresses and the next commands for people, one line of JSON for programs. */
import type { OpenIdProvider } from "@narthex/http"
import { type Addresses, hostPort } from "./addresses.ts"
import type { Role } from "./platform.ts"
import { type Mode, modeText } from "./settings/mode.ts"
import { variables } from "./settings/variables.ts"

export interface Up {
  /** The parts that the process runs. Nothing else is announced: another process may listen at its address. */
  readonly roles: ReadonlyArray<Role>
  readonly addresses: Addresses
  readonly providers: ReadonlyArray<OpenIdProvider>
  readonly data_dir: string
  /** The mode of the machine, and the settings that follow from it. */
  readonly settings: { readonly mode: Mode; readonly dev_providers: object | null; readonly limits: object | null }
  /** Whether each local compute has an account of its own. `null`: computes run elsewhere. */
  readonly compute_accounts: "own" | "shared" | null
  /** Whether the store has no account, so that the next commands help. */
  readonly first: boolean
  /** The id of this process, not of the `npm` or shell that started it. */
  readonly pid: number
}

/** The line that programs wait for on stdout. */
export const readyLine = ({
  addresses,
  compute_accounts,
  pid,
  providers,
  roles,
  settings
}: Omit<Up, "first">): string =>
  JSON.stringify({
    ready: true,
    pid,
    mode: settings.mode.name,
    mode_because: settings.mode.because,
    ...(roles.includes("api") ? { api: addresses.api.url } : {}),
    ...(roles.includes("console") ? { console: addresses.console.url } : {}),
    ...(roles.includes("proxy") ? { proxy: hostPort(addresses.proxy) } : {}),
    admin: `http://${hostPort(addresses.admin)}`,
    ...(roles.includes("runner") && compute_accounts !== null ? { compute_accounts } : {}),
    providers: providers.map(({ id, issuer, name }) => ({ id, name, issuer }))
  })

type Row = readonly [name: string, value: string]

/** The text for people. */
export const readyText = ({
  addresses,
  compute_accounts,
  data_dir,
  first,
  pid,
  providers,
  roles,
  settings
}: Up): string => {
  const cli = "npx narthex"
  const rowsOf: Record<Role, ReadonlyArray<Row>> = {
    api: [["API", `${addresses.api.url}  (documentation: ${addresses.api.url}/docs)`]],
    runner: [],
    console: [["Console", addresses.console.url]],
    proxy: [["Postgres proxy", hostPort(addresses.proxy)]]
  }
  const rows: ReadonlyArray<Row> = [
    ...roles.flatMap((role) => rowsOf[role]),
    [
      "Sign in with",
      providers.map(({ issuer, name }) => `${name} (${issuer})`).join(", ") || "no provider is configured"
    ],
    ["Mode", modeText(settings)],
    ["Data", data_dir],
    ...(compute_accounts === "shared"
      ? [["Databases", "share the account of this process: start it as root to separate them"] as const]
      : []),
    ["Process", String(pid)]
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const environment = addresses.api.port === variables.api.port.default ? "" : `NARTHEX_URL=${addresses.api.url} `
  const next = [
    "Next, in another terminal:",
    "",
    `  ${environment}${cli} login`,
    `  ${environment}${cli} project create first`,
    `  ${environment}${cli} events tail`,
    ""
  ]
  return [
    "",
    "Narthex is up.",
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    "",
    ...(first && roles.includes("api") ? next : []),
    "Ctrl-C stops everything.",
    ""
  ].join("\n")
}

/** What a process says when it is up: addresses and the next three commands for a person, one line of JSON for a program. */
import type { OpenIdProvider } from "@narthex/http"
import type { Addresses } from "./addresses.ts"

export interface Up {
  readonly addresses: Addresses
  readonly providers: ReadonlyArray<OpenIdProvider>
  readonly data_dir: string
}

const hostPort = ({ host, port }: { readonly host: string; readonly port: number }) =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`

/** For programs: they wait for it on stdout. */
export const readyLine = ({ addresses, providers }: Up): string =>
  JSON.stringify({
    ready: true,
    api: addresses.api.url,
    console: addresses.console.url,
    proxy: hostPort(addresses.proxy),
    admin: `http://${hostPort(addresses.admin)}`,
    providers: providers.map(({ id, issuer, name }) => ({ id, name, issuer }))
  })

/** For people. */
export const readyText = ({ addresses, data_dir, providers }: Up): string => {
  const cli = "node packages/cli/dist/narthex.js"
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["API", `${addresses.api.url}  (documentation: ${addresses.api.url}/docs)`],
    ["Console", addresses.console.url],
    ["Postgres proxy", hostPort(addresses.proxy)],
    ["Sign in with", providers.map(({ issuer, name }) => `${name} (${issuer})`).join(", ") || "no provider yet"],
    ["Data", data_dir]
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const environment = addresses.api.port === 4400 ? "" : `NARTHEX_URL=${addresses.api.url} `
  return [
    "",
    "Narthex is up.",
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    "",
    "Next, in another terminal:",
    "",
    `  ${environment}${cli} login`,
    `  ${environment}${cli} project create first`,
    `  ${environment}${cli} events tail`,
    "",
    "Ctrl-C stops everything.",
    ""
  ].join("\n")
}

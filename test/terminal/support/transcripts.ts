/** The screens of the documentation's command lines on a terminal of 100 columns, in the order of the pages. */
import type { createClient } from "@narthex/api"
import { keys } from "../../support/Terminal.ts"

type Client = ReturnType<typeof createClient>

export interface Transcript {
  readonly line: string
  /** The text that a person waits for, and the keys or the call that follow. */
  readonly does?: ReadonlyArray<readonly [shown: RegExp, typed: string | ((client: Client) => Promise<unknown>)]>
  /** The exit code. Default: 0. */
  readonly exits?: number
  /** The whole screen at the end, normalized. */
  readonly says: ReadonlyArray<string> | RegExp
}

/** A line for another shell. */
export interface Elsewhere {
  readonly line: string
  readonly shell: string
}

/** A login is cancelled here. `commands.test.ts` authorizes one. */
const cancelled = {
  does: [[/ Waiting for the browser$/, keys.ctrlC]],
  exits: 130,
  says: [
    "Open this URL to authorize the command line:",
    "http://127.0.0.1:PORT/cli/authorize?state=…&redirect_uri=…&code_challenge=…&code_challenge_method=S256&name=…"
  ]
} as const

const branchOfFirst = async (client: Client) => {
  const { projects } = await client.projects.list({})
  const [project] = projects
  if (project === undefined) throw new Error("There is no project.")
  await client.branches.create({ project_id: project.id, name: "watched", endpoint: false })
}

const followed = {
  does: [
    [/^Following events\. Ctrl-C ends\.$/, branchOfFirst],
    [/"finished"$/, keys.ctrlC]
  ],
  exits: 130,
  says: /^Following events\. Ctrl-C ends\.\n("\w+"\n)*"scheduling"\n("\w+"\n)*"running"\n("\w+"\n)*"finished"\n\^C$/
} as const

const created = [
  "project   prj-ID",
  "name      shop",
  "region    eu-1",
  "branch    main (br-ID)",
  "endpoint  ep-ID",
  "host      127.0.0.1:PORT",
  "options   endpoint=ep-ID"
]
const toFollow = "To follow: narthex operation watch UUID --project prj-ID"
const toConnect = "To connect: narthex psql shop, or narthex connection-string shop"

const allowed = (label: string) => [
  "Your address, as the API sees it, is 127.0.0.1.",
  "CIDR          LABEL  EXPIRES",
  `127.0.0.1/32  ${label.padEnd(5)}  in 8 h`,
  "warning: The last rule expires at INSTANT; after that, every address may connect."
]

export const transcripts: Readonly<Record<string, ReadonlyArray<Transcript | Elsewhere>>> = {
  "README.md": [
    { line: "narthex login --context acme", ...cancelled },
    { line: "narthex project create shop", says: [...created, toFollow, toConnect] },
    {
      line: "narthex branch create preview --project shop --ttl 7d --wait",
      says: [
        "Done after SECONDS.",
        "branch     br-ID",
        "name       preview",
        "project    prj-ID",
        "state      ready",
        "default    no",
        "protected  no",
        "parent     br-ID",
        "size       SIZE",
        "measured   SIZE",
        "expires    INSTANT (in 7 d)",
        "created    INSTANT (NOW)",
        "by         grace@example.com",
        "endpoint   ep-ID",
        "host       127.0.0.1:PORT",
        "options    endpoint=ep-ID",
        "To connect: narthex psql shop --branch preview"
      ]
    },
    {
      line: "narthex psql shop --branch preview",
      does: [[/\npostgres=>$/, "\\q\r"]],
      says: ["psql (VERSION)", 'Type "help" for help.', "", "postgres=> \\q"]
    },
    {
      line: "narthex connection-string --project shop --access read_only",
      says: [
        "postgresql://role_ID:PASSWORD@127.0.0.1:PORT/postgres?options=endpoint%3Dep-ID",
        "It contains the password of the new role role_ID, which is valid until it is revoked."
      ]
    },
    {
      line: "narthex ip-allow add --current --project shop --ttl 8h --label home",
      says: allowed("home")
    },
    { line: "narthex events tail --project shop -o json | jq .data.status", ...followed },
    {
      line: "narthex project delete shop",
      does: [[/ Continue\? \[y\/N\]$/, "y\r"]],
      says: [
        "The project shop (prj-ID) will be deleted with all its branches and their data, which cannot be undone. Continue? [y/N] y",
        "The project is deleted. Its data is removed in the background."
      ]
    },
    {
      line: 'narthex api GET "/v1/projects?limit=5"',
      says: ["{", '  "projects": [],', '  "pagination": {', '    "next_cursor": null', "  }", "}"]
    }
  ],
  "packages/cli/README.md": [
    { line: "narthex login", ...cancelled },
    { line: "narthex project create shop --wait", says: ["Done after SECONDS.", ...created, toConnect] },
    {
      line: "narthex psql shop -c 'select 1'",
      says: [" ?column?", "----------", "        1", "(1 row)"]
    },
    { line: "narthex ip-allow add --current --project shop --ttl 8h", says: allowed("-") },
    { line: "narthex events tail -o json | jq .data.status", ...followed },
    { line: "narthex completion fish > ~/.config/fish/completions/narthex.fish", says: [""] },
    { line: "narthex completion powershell | Out-String | Invoke-Expression", shell: "PowerShell" }
  ],
  "docs/guides/first-call.md": [{ line: "narthex login", ...cancelled }],
  "docs/guides/ci.md": [
    {
      line: "narthex sandbox create --project shop --output json > database.json",
      says: ["The password in the uri is shown only now.", toFollow]
    }
  ]
}

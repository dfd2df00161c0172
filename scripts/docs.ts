/**
 * `node --conditions=source scripts/docs.ts`: generates pages of `docs/` from the code.
 *
 * `test/documentation.test.ts` compares the committed pages with these texts. JSON is compared by value, because the
 * formatter decides its line breaks.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { openApiDocument, problemCatalog } from "@narthex/api"
import { settingsMarkdown } from "@narthex/server"
import { clientTypeModules } from "./clientTypes.ts"
import { commandLineTables, commandsPage } from "./commands.ts"
import { eventsPage } from "./events.ts"
import { matrixTable } from "./matrix.ts"
import { metricsPage } from "./metrics.ts"
import { migrationPages } from "./migrations.ts"
import { markdownTable } from "./pages/markdownTable.ts"
import { pageLink } from "./pages/pageLink.ts"
import { permissionsPage } from "./permissions.ts"

const root = resolve(import.meta.dirname, "..")

const generated = (from: string) => `<!-- Generated from ${from} by scripts/docs.ts: change it there. -->`

const settingsPage = () =>
  [
    generated("packages/server/src/settings/variables/"),
    "# Settings",
    "",
    "Settings are environment variables. They are read once, at the start, and checked together: one message has every",
    "mistake, and the process does not start. A secret can be in a file instead: `…_FILE` is the path of that file.",
    "Durations are text (`15 minutes`), lists are separated by commas, booleans are `true` or `false`.",
    "",
    "`narthex-server settings` prints the same table and says which variables are set. The variables of the command line",
    "are in `narthex help environment`.",
    "",
    settingsMarkdown(),
    ""
  ].join("\n")

const problemsPage = () =>
  [
    generated("packages/api/src/problems/problemCatalog.ts"),
    "# Problems",
    "",
    "Every refusal is a problem of RFC 9457 (`application/problem+json`). `code` is stable: compare it, not the",
    "sentences. `type` is `urn:narthex:problem:` and the code. `detail` explains the refusal to a person, `request_id`",
    "identifies the request for the operator, and `errors` lists the invalid members of the body or parameters.",
    "",
    "```json",
    JSON.stringify(
      {
        type: "urn:narthex:problem:region_required",
        title: problemCatalog.region_required.title,
        status: problemCatalog.region_required.status,
        code: "region_required",
        request_id: "…"
      },
      undefined,
      2
    ),
    "```",
    "",
    "| Status | Code | What happened | What to do |",
    "|---|---|---|---|",
    ...Object.entries(problemCatalog)
      .toSorted(([, one], [, other]) => one.status - other.status)
      .map(([code, { next, status, title }]) => `| ${status} | \`${code}\` | ${title} | ${next} |`),
    ""
  ].join("\n")

/** The inputs of a call in the document: each is a member of the path, of the query, or of the body. */
const inputsOf = ({ parameters = [], requestBody }: DocumentedCall, schemas: DocumentedSchemas) => {
  const { schema } = requestBody?.content["application/json"] ?? {}
  const named = schema?.$ref?.split("/").at(-1)
  const bodies = [named === undefined ? schema : schemas[named]].flatMap((it) => it?.anyOf ?? it?.oneOf ?? it ?? [])
  const members = bodies.flatMap(({ properties = {}, required = [] }) =>
    Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  )
  const others = parameters
    .filter((it) => it.in !== "header")
    .map(({ name, required }) => (required === true ? name : `${name}?`))
  return [...new Set([...others, ...members])]
}

interface DocumentedSchema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<DocumentedSchema>
  readonly oneOf?: ReadonlyArray<DocumentedSchema>
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: ReadonlyArray<string>
}
type DocumentedSchemas = Readonly<Record<string, DocumentedSchema>>

/** An operation of the document, as far as it is read. */
interface DocumentedCall {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly required?: boolean }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: DocumentedSchema }>> }
}

/** Every call of the typed client, from the document. */
const callsPage = () => {
  // The document is JSON, of which these members are read.
  const document = openApiDocument() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedCall>>>>
    readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
    readonly components: { readonly schemas: DocumentedSchemas }
  }
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ ...call, route: `${method.toUpperCase()} ${path}` }))
  )
  return [
    generated("the contract, packages/api/src/groups/,"),
    "# Calls of the client",
    "",
    "Every call of the typed client, in the process (`cp.client(…)` of [narthex](../packages/narthex/README.md)) and over HTTP",
    "(`createClient` of [@narthex/api](../packages/api/README.md)). A call takes one object; members with `?` may be left out.",
    `[openapi.json](openapi.json) has the schemas and answers, ${pageLink("permissions", "the permissions")} who may call, and`,
    `${pageLink("problems", "the problems")} the codes. \`client.events.subscribe\` and \`client.operations.waitFor\` follow streams and`,
    `operations (${pageLink("design/client", "the client's rules")}).`,
    "",
    ...document.tags.flatMap(({ description = "", name }) => [
      `## ${name}`,
      "",
      description,
      "",
      markdownTable(
        ["Call", "Does", "Over HTTP"],
        calls
          .filter(({ tags }) => tags.includes(name))
          .map((call) => {
            const inputs = inputsOf(call, document.components.schemas)
            const input = inputs.length === 0 ? "" : `{ ${inputs.join(", ")} }`
            return [`\`client.${call.operationId}(${input})\``, call.summary, `\`${call.route}\``]
          })
      ),
      ""
    ])
  ].join("\n")
}

/** A page of which only the tables between markers are generated. */
const withTables = (page: string, tables: Readonly<Record<string, string>>) =>
  Object.entries(tables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`),
        () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`
      ),
    readFileSync(resolve(root, page), "utf8")
  )

/** The index of the documentation in the form that language models read: https://llmstxt.org. */
const llmsText = () => {
  const index = readFileSync(resolve(root, "docs/README.md"), "utf8")
  return [
    "# Narthex",
    "",
    "> The control plane of a hosted Postgres platform, as a library and as a server: organizations, sign-in, API keys, IP",
    "> allowlists, projects with real Postgres computes, and a resumable stream of every change. TypeScript on Node.",
    "",
    "Paths are relative to the folder docs of the repository.",
    "",
    index.slice(index.indexOf("## ")).trimEnd(),
    ""
  ].join("\n")
}

/** file, from the root → what it must hold. */
export const generatedPages: Readonly<Record<string, () => string>> = {
  "docs/settings.md": settingsPage,
  "docs/problems.md": problemsPage,
  "docs/calls.md": callsPage,
  "docs/permissions.md": permissionsPage,
  "docs/commands.md": commandsPage,
  "docs/events.md": eventsPage,
  "docs/metrics.md": metricsPage,
  "docs/llms.txt": llmsText,
  "docs/openapi.json": () => `${JSON.stringify(openApiDocument(), undefined, 2)}\n`,
  "packages/cli/README.md": () => withTables("packages/cli/README.md", commandLineTables),
  "docs/design/authorization.md": () => withTables("docs/design/authorization.md", { matrix: matrixTable() }),
  ...clientTypeModules,
  ...migrationPages
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(generatedPages)) writeFileSync(resolve(root, file), text())
  const { status } = spawnSync(
    resolve(root, "node_modules/.bin/biome"),
    ["format", "--write", ...Object.keys(generatedPages).filter((file) => file.endsWith(".json"))],
    { cwd: root, stdio: "inherit" }
  )
  process.exitCode = status ?? 1
}

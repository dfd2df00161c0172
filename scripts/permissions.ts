/**
 * The page `docs/permissions.md`: the callers of each call, from policies and `decide`. Every cell is the answer before
 * anything is looked up, for an object of the caller's organization that is in the scope of the key.
 */
import { Api, policyOf, RaisedBy } from "@narthex/api"
import { type AnyCaller, type CredentialPolicy, decide, type PathIds } from "@narthex/core"
import { matrixCallers, matrixIds, refusalLetters } from "@narthex/core/testing"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"

const named: PathIds = { ...matrixIds, endpoint_id: "endpoint", operation_id: "operation" }

/** The ids that the path of a call names; `self` is the key of the call, and a session has none. */
const idsIn = ({ path }: HttpApiEndpoint.Top, { kind }: AnyCaller): PathIds => ({
  ...Object.fromEntries(Object.entries(named).filter(([name]) => path.includes(`:${name}`))),
  ...(path.endsWith("/self") && kind === "api_key" ? { api_key_id: matrixIds.api_key_id } : {})
})

/** The design of authorization, which the page links to. */
const design = "design/authorization"

/** Callers of calls without the credential of a person. */
const others = {
  Anonymous: "everyone, without a credential",
  OwnToken: "the session of the token, expired or not",
  Proxy: "proxies, by their token"
}

export interface PermissionRow {
  readonly group: string
  /** `group.endpoint`. */
  readonly call: string
  /** Cells by column, or who may call where no column decides. */
  readonly cells: Readonly<Record<string, string>> | string
  /** The objects that an agent's key may apply it to. */
  readonly agent: string
}

const agents = {
  any: "",
  never: "",
  not_main: "not *main*",
  made_by_agent: "made by an agent's key"
}

/** The objects that agents' keys may apply it to; for a body with a member that needs more, that policy's rule too. */
const agentRule = (endpoint: HttpApiEndpoint.Top, { agent, agent_named = agent }: CredentialPolicy): string => {
  const raise = Context.get(endpoint.annotations, RaisedBy)
  const rules = [agents[agent_named]]
  if (agent !== "never" && raise !== undefined) {
    const value = raise.values?.map((it) => `: ${it}`).join() ?? ""
    rules.push(`with \`${raise.member}${value}\`: ${agents[raise.policy.agent] || raise.policy.agent}`)
  }
  return rules.filter((rule) => rule !== "").join("; ")
}

/** Every call of the contract. */
export const permissionRows = (): ReadonlyArray<PermissionRow> => {
  const rows: Array<PermissionRow> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const policy = policyOf(endpoint)
      const call = `${group.identifier}.${endpoint.identifier}`
      if (policy === undefined) throw new Error(`${call} has no policy.`)
      if (policy._tag !== "Credential") {
        rows.push({ group: group.identifier, call, cells: others[policy._tag], agent: "" })
        return
      }
      const cells = Object.entries(matrixCallers).map(([column, caller]) => {
        const refusal = decide(policy, caller, idsIn(endpoint, caller))
        return [column, refusal === undefined ? "✓" : refusalLetters[refusal.code]] as const
      })
      rows.push({ group: group.identifier, call, cells: Object.fromEntries(cells), agent: agentRule(endpoint, policy) })
    }
  })
  return rows
}

const columns = Object.keys(matrixCallers)

const line = ({ agent, call, cells }: PermissionRow) =>
  typeof cells === "string"
    ? `| \`${call}\` | ${cells} ${"| ".repeat(columns.length)}|`
    : `| \`${call}\` | ${columns.map((column) => cells[column]).join(" | ")} | ${agent} |`

export const permissionsPage = (): string => {
  const rows = permissionRows()
  return [
    "<!-- Generated from the policies of packages/api/src/groups/ and decide by scripts/docs.ts: change them there. -->",
    "# Permissions",
    "",
    "Every call of the contract by every kind of caller, as `decide` answers before anything is looked up: for an object of the",
    "caller's organization, in the scope of the key, and for the own key. A later check may still refuse: an object that does not",
    `exist, another person's object, a body that asks for a higher right. [The design](${design}.md#the-matrix) has these cases and`,
    "the reasons.",
    "",
    "| Column | Caller |",
    "|---|---|",
    "| P, X | session of a pending account; of a former member |",
    "| O, A, M, V | session of an owner, admin, member, viewer |",
    "| KW, KP, KB | an owner's key, `read_write`: of the organization, of the project, of the branch |",
    "| KR, KA | an owner's key of the organization: `read`, `agent` |",
    "",
    "`✓` allowed; refused with 403: `a` alpha_pending, `n` not_a_member, `s` session_required, `k` key_self_only,",
    "`i` scope_insufficient, `c` capability_insufficient, `r` role_insufficient. The last column says which branches an agent's key",
    "may apply the call to, and with which bodies.",
    "",
    ...[...new Set(rows.map(({ group }) => group))].flatMap((group) => [
      `## ${group}`,
      "",
      `| Call | ${columns.join(" | ")} | Agents |`,
      `|${"---|".repeat(columns.length + 2)}`,
      ...rows.filter((row) => row.group === group).map(line),
      ""
    ])
  ].join("\n")
}

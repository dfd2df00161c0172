/**
 * A key can do nothing by a tool that it cannot do by HTTP: each tool is called with keys of every capability and scope, on
 * objects of every kind, and so is the call of the API that decides (docs/design/mcp.md M2).
 */
import { assert, describe, it } from "@effect/vitest"
import { NarthexClient } from "@narthex/api"
import { Effect, Layer, Redacted } from "effect"
import { McpProtocol, McpServer, McpTest } from "effect/ai"
import { FetchHttpClient } from "effect/http"
import { HostedPlane } from "../../../test/support/HostedPlane.ts"
import { Caller } from "../src/access/Caller.ts"
import { registrations } from "../src/server/tools.ts"
import { network } from "../src/sql/dial.ts"

interface Place {
  readonly project: string
  readonly branch: string
  readonly operation: string
}

const invented: Place = {
  project: "prj-01jd0000000000000000000000",
  branch: "br-01jd0000000000000000000000",
  operation: "00000000-0000-4000-8000-000000000000"
}

type Call = readonly [method: string, path: string, body?: unknown]

/** A tool with its arguments, and the calls of the API that decide, in their order. */
interface Right {
  readonly tool: string
  readonly given: (place: Place) => Record<string, unknown>
  readonly http: (place: Place) => ReadonlyArray<Call>
}

const branchPath = ({ branch, project }: Place) => `/v1/projects/${project}/branches/${branch}`

const at = ({ branch, project }: Place) => ({ project, branch })

const minting = (place: Place): ReadonlyArray<Call> => [
  ["GET", branchPath(place)],
  ["POST", `${branchPath(place)}/credentials`, { access: "read_only" }]
]

const rights: ReadonlyArray<Right> = [
  { tool: "list_projects", given: () => ({}), http: () => [["GET", "/v1/projects"]] },
  {
    tool: "describe_project",
    given: ({ project }) => ({ project }),
    http: ({ project }) => [["GET", `/v1/projects/${project}/overview`]]
  },
  {
    tool: "wait_for_operation",
    given: ({ operation, project }) => ({ project, operation }),
    http: ({ operation, project }) => [["GET", `/v1/projects/${project}/operations/${operation}`]]
  },
  {
    tool: "propose_change",
    given: (place) => ({ ...at(place), sql: "SELECT 1", reason: "because" }),
    http: (place) => [["GET", branchPath(place)]]
  },
  {
    tool: "run_sql",
    given: (place) => ({ ...at(place), sql: "SELECT 1" }),
    http: minting
  },
  {
    tool: "get_connection_string",
    given: at,
    http: minting
  },
  {
    tool: "create_sandbox",
    given: ({ branch, project }) => ({ project, parent: branch }),
    http: ({ branch, project }) => [["POST", `/v1/projects/${project}/sandboxes`, { parent_id: branch }]]
  }
]

/** The rule of a refusal, or `allowed`. A database that cannot be reached refuses what the API has allowed. */
const ruleOf = (text: string, isError: boolean) => {
  const [, rule = "allowed"] = isError ? (/^Refused by rule (\w+)/.exec(text) ?? []) : []
  return ["no_connection", "no_console", "time_limit"].includes(rule) ? "allowed" : rule
}

const world = Effect.gen(function* () {
  const plane = yield* HostedPlane.make()
  const signIn = async (subject: string) => {
    const email = `${subject}@example.com`
    const person = await plane.product.people.ensure({ subject, email, email_verified: true, name: subject })
    return plane.product.client(await plane.product.sessions.start(person))
  }
  const ada = yield* Effect.promise(() => signIn("ada"))
  const eve = yield* Effect.promise(() => signIn("eve"))
  const place = async (client: typeof ada, name: string): Promise<Place> => {
    const { branch, operations, project } = await client.projects.create({ name })
    return { project: project.id, branch: branch.id, operation: operations[0]?.id ?? "" }
  }
  const own = yield* Effect.promise(() => place(ada, "own"))
  const other = yield* Effect.promise(() => place(ada, "other"))
  const foreign = yield* Effect.promise(() => place(eve, "foreign"))
  const { branch } = yield* Effect.promise(() => ada.branches.create({ project_id: own.project, endpoint: true }))
  const child: Place = { ...own, branch: branch.id }

  const scopes = {
    organization: { type: "organization" },
    project: { type: "project", project_id: own.project },
    branch: { type: "branch", project_id: own.project, branch_id: child.branch }
  } as const
  const keyOf = (capability: "agent" | "read" | "read_write", scope: keyof typeof scopes) =>
    Effect.promise(async () => {
      const name = `${capability} ${scope}`
      const { secret } = await ada.apiKeys.create({ name, capability, scope: scopes[scope] })
      return secret ?? ""
    })

  const http = (secret: string, calls: ReadonlyArray<Call>) =>
    Effect.promise(async () => {
      for (const [method, path, body] of calls) {
        const response = await fetch(`${plane.url}${path}`, {
          method,
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        if (response.ok) continue
        const problem: { readonly code: string } = await response.json()
        return problem.code
      }
      return "allowed"
    })

  const toolsOf = Effect.fnUntraced(function* (secret: string) {
    const settings = { baseUrl: plane.url, credential: Redacted.make(secret) }
    const client = yield* NarthexClient.pipe(
      Effect.provide(Layer.provide(NarthexClient.layer(settings), FetchHttpClient.layer))
    )
    const caller = McpServer.middleware<{ provides: Caller }>()((call) =>
      Effect.provideService(call, Caller, { client, id: secret, key: "the key", dial: network })
    )
    const offered = registrations({ connection_strings: true }).pipe(Layer.provide(caller.layer))
    return yield* McpTest.makeClient(offered, { protocols: [McpProtocol.v2026_07_28] })
  })
  return { places: { own, child, other, foreign, invented }, keyOf, http, toolsOf, ada, own, child }
})

describe("rights of tools", () => {
  for (const capability of ["agent", "read", "read_write"] as const)
    for (const scope of ["organization", "project", "branch"] as const)
      it.live(
        `a key with ${capability} for the ${scope} is refused by a tool what it is refused by HTTP, for the same reason`,
        () =>
          Effect.gen(function* () {
            const { http, keyOf, places, toolsOf } = yield* world
            const secret = yield* keyOf(capability, scope)
            const client = yield* toolsOf(secret)
            const differences: Array<string> = []
            for (const [kind, place] of Object.entries(places))
              for (const { given, http: call, tool } of rights) {
                const expected = yield* http(secret, call(place))
                const { content, isError } = yield* client.callTool({ name: tool, arguments: given(place) })
                const text = content.map((part) => (part.type === "text" ? part.text : "")).join("")
                const got = ruleOf(text, isError === true)
                if (got !== expected)
                  differences.push(`${tool} on ${kind}: HTTP says ${expected}, the tool says ${got}`)
              }
            assert.deepStrictEqual(differences, [])
          }).pipe(Effect.scoped)
      )

  it.live("an agent key neither resets nor deletes a sandbox that a person made, nor main", () =>
    Effect.gen(function* () {
      const { ada, keyOf, own, toolsOf } = yield* world
      const client = yield* toolsOf(yield* keyOf("agent", "organization"))
      const { branch } = yield* Effect.promise(() =>
        ada.branches.create({ project_id: own.project, name: "persons", ttl_seconds: 3600 })
      )
      const rules: Array<string> = []
      for (const [name, place] of [
        ["delete_sandbox", branch.id],
        ["reset_sandbox", branch.id],
        ["delete_sandbox", own.branch],
        ["reset_sandbox", own.branch]
      ] as const) {
        const { content, isError } = yield* client.callTool({
          name,
          arguments: { project: own.project, branch: place }
        })
        const [part] = content
        rules.push(ruleOf(part?.type === "text" ? part.text : "", isError === true))
      }
      assert.deepStrictEqual(rules, [
        "capability_insufficient",
        "capability_insufficient",
        "not_a_sandbox",
        "not_a_sandbox"
      ])
    }).pipe(Effect.scoped)
  )
})

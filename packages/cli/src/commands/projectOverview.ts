/** `narthex project overview`: what is in a project, at one look and with one call. */
import type { ProjectOverview } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { projectArgument } from "../input/flags.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant } from "../output/table.ts"
import { stateText } from "../tables/states.ts"

const parts = ["branches", "endpoints", "operations", "ip_allow"] as const

export const overview = Command.make("overview", { project: Argument.optional(projectArgument) }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const { id } = yield* chooseProject(api, project)
        const call = { params: { project_id: id }, query: { include: parts }, ...withBody }
        return yield* answered(api.client.api.projects.overview(call))
      })
      const { body, value } = yield* output.waiting("Reading the project", asked)
      yield* output.answer({ body, table: overviewFacts(value) })
    })
  )
).pipe(
  Command.withDescription("Show what is in a project: state, branches, endpoints, allowlist, the last operation"),
  Command.withExamples([{ command: "narthex project overview shop" }])
)

const overviewFacts = ({ branches = [], endpoints = [], ip_allow, operations = [], project }: ProjectOverview) => {
  const ofDefault = endpoints.filter(({ branch_id }) => branch_id === project.default_branch_id)
  const main = ofDefault.find(({ type }) => type === "read_write") ?? ofDefault[0]
  const running = endpoints.filter(({ current_state }) => current_state === "active").length
  const [last] = operations
  return facts(
    ["project", project.id],
    ["name", project.name],
    ["region", project.region_id],
    ["state", main === undefined ? "no endpoint" : stateText(main)],
    ["branches", branches.length],
    ["endpoints", `${endpoints.length}, ${running} running`],
    ["allowlist", allowlistText(ip_allow)],
    ["last operation", last === undefined ? null : `${last.action} ${last.status}`],
    ["at", last === undefined ? null : instant(last.updated_at)]
  )
}

/** An allowlist that a server leaves out is not an open one. */
const allowlistText = (allowlist: ProjectOverview["ip_allow"]): string | null => {
  if (allowlist === undefined) return null
  const count = allowlist.rules.length
  return allowlist.restricted ? `${count} ${count === 1 ? "network" : "networks"}` : "any address"
}

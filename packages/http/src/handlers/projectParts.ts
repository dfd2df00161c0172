/** The parts of a project that its overview includes, each as its own list answers it (docs/design/api.md A29). */
import { type Overviews, type Project, type ProjectPart, viewBranch } from "@narthex/core"
import { Effect } from "effect"
import { problems } from "../toProblem.ts"
import { endpointRecord, operationRecords } from "./records.ts"

/** A part that is not asked for is neither read nor answered. */
export const projectParts = Effect.fnUntraced(function* (
  overviews: Overviews["Service"],
  project: Project,
  asked: ReadonlyArray<ProjectPart>
) {
  if (asked.length === 0) return {}
  const found = yield* problems(overviews.ofProject(project, asked))
  const sizes = new Map(found.sizes.map((size) => [size.branch_id, size]))
  const endpoints = yield* Effect.forEach(found.endpoints, endpointRecord)
  const wanted = (part: ProjectPart) => asked.includes(part)
  return {
    ...(wanted("branches") ? { branches: found.branches.map((branch) => viewBranch(branch, sizes)) } : {}),
    ...(wanted("endpoints") ? { endpoints } : {}),
    ...(wanted("operations") ? { operations: operationRecords(found.operations) } : {}),
    ...(wanted("ip_allow") ? { ip_allow: found.ip_allow } : {})
  }
})

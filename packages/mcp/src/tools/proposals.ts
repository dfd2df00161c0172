/**
 * `propose_change`: a link that shows a person what an agent proposes for *main*. Nothing else happens: the proposal is
 * stored nowhere, and the person runs it.
 *
 * The proposal is in the fragment of the link, which browsers send to no server, so no log has it.
 */
import { Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { calling } from "../access/explain.ts"
import { branchOf } from "../access/names.ts"
import { Refused } from "../access/Refused.ts"
import { adds } from "./hints.ts"
import { mark, marked } from "./marked.ts"
import { branchParameter, projectParameter } from "./parameters.ts"

/** Characters. Browsers and terminals take links of this length. */
const mostSql = 6000
const mostReason = 1000

/** Without characters that hide or reorder others, which the page does not show. */
const plain = Schema.isPattern(/^(?:[\n\t]|[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}])*$/u)

export const proposeChange = Tool.make("propose_change", {
  description:
    "Makes a link to a page that shows a person the SQL that you propose. Nothing is stored or run: give the link to the person, who decides and runs it.",
  parameters: Schema.Struct({
    project: projectParameter,
    branch: branchParameter,
    sql: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(mostSql), plain).annotate({
      description: "The SQL to propose, at most 6000 characters."
    }),
    reason: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(mostReason), plain).annotate({
      description: "Why, in words for the person, at most 1000 characters."
    })
  }),
  success: marked(Schema.Struct({ link: Schema.String, next: Schema.String })),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(adds)

const noConsole = new Refused({
  rule: "no_console",
  reason: "This platform has no console that could show the proposal.",
  allowed: "showing the person the SQL itself."
})

export const proposalHandlers = {
  propose_change: Effect.fn("propose_change")(function* (given: typeof proposeChange.parametersSchema.Type) {
    const branch = yield* branchOf(given.project, given.branch)
    const { console_url } = yield* calling(({ api }) => api.auth.providers())
    if (console_url === null) return yield* noConsole
    const shown = {
      project: branch.project_id,
      branch: branch.id,
      name: branch.name,
      sql: given.sql,
      reason: given.reason
    }
    const fragment = Buffer.from(JSON.stringify(shown), "utf8").toString("base64url")
    return mark({
      link: `${console_url}/proposal#${fragment}`,
      next: "Show the person the whole link. Nothing has happened to the database."
    })
  })
}

/** Serves `IpAllowlistApi` from the core. */
import { Api, ReplacedIpRule } from "@narthex/api"
import { ClientRefusals, InvalidMember, IpAllowlist, IpRuleNotFound, isAddress, Principal, Target } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

export const IpAllowlistHandlers = HttpApiBuilder.group(
  Api,
  "ipAllow",
  Effect.fn(function* (handlers) {
    const allowlist = yield* IpAllowlist
    const clients = yield* ClientRefusals
    const remove = (cidr: string) =>
      Effect.flatMap(Target.project, (project) => problems(allowlist.remove(project, cidr)))
    return handlers.handleAll({
      list: () => Effect.flatMap(Target.project, ({ id }) => problems(allowlist.list(id))),
      add: Effect.fnUntraced(function* ({ payload }) {
        const { user } = yield* Principal
        const project = yield* Target.project
        const { replaced, rule } = yield* problems(allowlist.add(project, payload, user.ref))
        return replaced ? new ReplacedIpRule(rule) : rule
      }),
      check: Effect.fnUntraced(function* ({ query }) {
        if (!isAddress(query.address))
          return yield* problems(
            new InvalidMember({ path: ["address"], reason: "Expected an IP address, without port and zone." })
          )
        const { id } = yield* Target.project
        return yield* problems(allowlist.check(id, query.address))
      }),
      summary: Effect.fnUntraced(function* () {
        const { id } = yield* Target.project
        return { summary: yield* problems(allowlist.summary(id)) }
      }),
      refusals: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { id } = yield* Target.project
        const { items, next_cursor } = yield* problems(clients.list(yield* Principal, id, page))
        return { refusals: items, pagination: { next_cursor } }
      }),
      remove: ({ params }) => remove(params.cidr),
      // An empty segment is a superfluous slash and names no network, so nothing is removed.
      removeSplit: ({ params: { network, prefix } }) =>
        network === "" || prefix === "" ? problems(new IpRuleNotFound({ cidr: "" })) : remove(`${network}/${prefix}`),
      reset: () => Effect.flatMap(Target.project, (project) => problems(allowlist.reset(project)))
    })
  })
)

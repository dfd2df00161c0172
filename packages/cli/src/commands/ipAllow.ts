/**
 * `narthex ip-allow list|add|remove|reset|check|refusals|summary`.
 *
 * Pitfall: reading the list, changing it and writing it back. Concurrent changes would be lost; each change is one call.
 * Pitfall: removing the last rule without a warning. An empty list allows every address.
 */
import { type Cidr, Label, type NarthexClient, type ProjectId, parseCidrOrAddress } from "@narthex/api"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { Declined, UsageMistake } from "../failures/LocalFailure.ts"
import { agrees, canAsk, confirm } from "../input/confirm.ts"
import { fittingFlag, given, pastedArgument, projectFlag, ttlFlag, yesFlag } from "../input/flags.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, rows } from "../output/table.ts"
import { check } from "./ipAllowCheck.ts"
import { refusals } from "./ipAllowRefusals.ts"

const opens = "The project will accept connections from every address."
const isOpen = "There is no rule: the project accepts connections from every address."

type Client = NarthexClient["Service"]
type Rules = Effect.Success<ReturnType<typeof rulesOf>>

const rulesOf = ({ api }: Client, project_id: ProjectId) => api.ipAllow.list({ params: { project_id } })

const readNetwork = (text: string): Effect.Effect<Cidr, UsageMistake> =>
  Effect.mapError(
    Effect.fromResult(parseCidrOrAddress(text)),
    ({ message }) => new UsageMistake({ message, hint: "use a network such as 10.0.0.0/8, or a single address" })
  )

const list = Command.make("list", { project: projectFlag }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const { client } = api
      const { id: project_id } = yield* chooseProject(api, project)
      const { body, value } = yield* output.waiting(
        "Listing rules",
        answered(client.api.ipAllow.list({ params: { project_id }, ...withBody }))
      )
      yield* output.answer({
        body,
        table: rows(
          ["cidr", "label", "expires", "created", "by"],
          ...value.rules.map((rule) => [
            rule.cidr,
            rule.label,
            instant(Option.getOrNull(rule.expires_at)) ?? "never",
            instant(rule.created_at),
            rule.created_by.email ?? rule.created_by.id
          ])
        ),
        empty: isOpen
      })
      yield* sayWhatMaySurprise(value)
    })
  )
).pipe(
  Command.withDescription("List the networks that may connect to a project"),
  Command.withExamples([{ command: "narthex ip-allow list --project shop" }])
)

const everyAddress = { ipv4: "0.0.0.0/0", ipv6: "::/0" } as const

const familyName = (family: "ipv4" | "ipv6") => (family === "ipv4" ? "IPv4" : "IPv6")

/** Warns that the project opens by itself, and of a list that seems to admit every address and does not. */
const sayWhatMaySurprise = Effect.fnUntraced(function* ({ opens_at, refused_family: refused }: Rules) {
  const output = yield* Output
  if (refused === "ipv4" || refused === "ipv6") {
    const [none, every] = [familyName(refused), familyName(refused === "ipv4" ? "ipv6" : "ipv4")]
    yield* output.warn(
      `The rules list every ${every} address and no ${none} address: connections over ${none} are refused. To allow them: narthex ip-allow add ${everyAddress[refused]}`
    )
  }
  if (Option.isSome(opens_at))
    yield* output.warn(
      `The last rule expires at ${DateTime.formatIso(opens_at.value)}; after that, every address may connect.`
    )
})

const add = Command.make(
  "add",
  {
    cidr: pastedArgument("cidr").pipe(
      Argument.withDescription("A network such as 10.0.0.0/8, or a single address"),
      Argument.optional
    ),
    project: projectFlag,
    current: Flag.Boolean("current").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Your own address, as the API sees it"),
      Flag.withDefault(false)
    ),
    label: fittingFlag("label", Label).pipe(Flag.withDescription("A note about the rule"), Flag.optional),
    ttl: ttlFlag("Lifetime of the rule: 90 (seconds), 30m, 8h, 7d. Default: until it is removed")
  },
  ({ cidr, current, label, project, ttl }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        if (Option.isSome(cidr) === current)
          return yield* new UsageMistake({
            message: "Give either a network or --current.",
            hint: "narthex ip-allow add --help"
          })
        const named = Option.isSome(cidr) ? yield* readNetwork(cidr.value) : undefined
        const api = yield* (yield* Connection).authenticated
        const { client } = api
        const { id: project_id } = yield* chooseProject(api, project)
        const network = named ?? (yield* currentNetwork(client))
        const payload = { cidr: network, ...given("label", label), ...given("ttl_seconds", ttl) }
        const { body, value: rule } = yield* output.waiting(
          "Adding the rule",
          answered(client.api.ipAllow.add({ params: { project_id }, payload, ...withBody }))
        )
        yield* output.answer({
          body,
          table: rows(
            ["cidr", "label", "expires"],
            [rule.cidr, rule.label, instant(Option.getOrNull(rule.expires_at)) ?? "never"]
          )
        })
        yield* adviseAfterAdding(client, project_id, { network, current })
      })
    )
).pipe(
  Command.withDescription("Allow a network to connect to a project"),
  Command.withExamples([
    { command: "narthex ip-allow add 203.0.113.0/24 --project shop --label office" },
    {
      command: "narthex ip-allow add --current --project shop --ttl 8h",
      description: "Your own address, for a working day"
    }
  ])
)

/** Asks the API for the client address, never a third party (docs/design/cli.md C16). */
const currentNetwork = Effect.fnUntraced(function* ({ api }: Client) {
  const output = yield* Output
  const { address } = yield* api.auth.clientAddress()
  yield* output.note(`Your address, as the API sees it, is ${address}.`)
  return yield* readNetwork(address)
})

interface Added {
  readonly network: Cidr
  readonly current: boolean
}

/** Prints warnings about the new rule. It never fails: the rule is added, whether or not reading is allowed. */
const adviseAfterAdding = Effect.fnUntraced(
  function* (client: Client, project_id: ProjectId, { current, network }: Added) {
    const output = yield* Output
    const rules = yield* rulesOf(client, project_id)
    yield* sayWhatMaySurprise(rules)
    const others = rules.rules.filter((rule) => rule.cidr !== network)
    if (current && network.includes(":") && others.some((rule) => !rule.cidr.includes(":")))
      yield* output.warn(`${network} is IPv6, but other rules are IPv4: connections over IPv4 need a separate rule.`)
    if (others.length > 0 || current) return
    const { address } = yield* client.api.auth.clientAddress()
    const { allowed } = yield* client.api.ipAllow.check({ params: { project_id }, query: { address } })
    if (!allowed)
      yield* output.warn(
        `This is the first rule, and it does not include your own address ${address}: the project now refuses it. To add it: narthex ip-allow add --current`
      )
  },
  (advice) => Effect.catch(advice, (failure) => Effect.logDebug(failure._tag))
)

const remove = Command.make(
  "remove",
  {
    cidr: pastedArgument("cidr").pipe(Argument.withDescription("The network, in any notation, or a single address")),
    project: projectFlag,
    yes: yesFlag
  },
  ({ cidr, project, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const network = yield* readNetwork(cidr)
        const api = yield* (yield* Connection).authenticated
        const { client } = api
        const { id: project_id } = yield* chooseProject(api, project)
        const { rules } = yield* rulesOf(client, project_id)
        const isLast = rules.length === 1 && rules[0]?.cidr === network
        if (isLast && !yes && (yield* canAsk)) {
          if (!(yield* agrees(`This is the last rule. ${opens}`)))
            return yield* new Declined({ message: "Nothing was changed." })
        }
        yield* output.waiting("Removing the rule", client.api.ipAllow.remove({ params: { project_id, cidr: network } }))
        yield* output.note(`The rule for ${network} is removed.`)
        if (isLast) yield* output.warn(`That was the last rule. ${isOpen}`)
      })
    )
).pipe(
  Command.withDescription("Remove the rule for a network"),
  Command.withExamples([{ command: "narthex ip-allow remove 203.0.113.0/24 --project shop" }])
)

const reset = Command.make("reset", { project: projectFlag, yes: yesFlag }, ({ project, yes }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const { client } = api
      const { id: project_id } = yield* chooseProject(api, project)
      yield* confirm(`This removes every rule. ${opens}`, yes)
      yield* output.waiting("Removing every rule", client.api.ipAllow.reset({ params: { project_id }, query: {} }))
      yield* output.note(isOpen)
    })
  )
).pipe(
  Command.withDescription("Remove every rule, which opens the project to every address"),
  Command.withExamples([{ command: "narthex ip-allow reset --project shop --yes" }])
)

const summary = Command.make("summary", { project: projectFlag }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const { id: project_id } = yield* chooseProject(api, project)
      const { body, value } = yield* output.waiting(
        "Counting rules",
        answered(api.client.api.ipAllow.summary({ params: { project_id }, ...withBody }))
      )
      const { expiring, rules } = value.summary
      yield* output.answer({ body, table: facts(["rules", rules], ["expiring", expiring]) })
    })
  )
).pipe(
  Command.withDescription("Count the rules in force, and those that expire"),
  Command.withExamples([{ command: "narthex ip-allow summary --project shop" }])
)

export const ipAllow = Command.make("ip-allow").pipe(
  Command.withDescription("Networks that may connect to a project"),
  Command.withSubcommands([list, add, remove, reset, check, refusals, summary])
)

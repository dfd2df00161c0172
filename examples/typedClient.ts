/**
 * A script that creates a project through the API and waits until it is ready. Each problem is a class, so it can be
 * caught by its tag.
 *
 *     NARTHEX_API_KEY=nsk_… node --conditions=source examples/typedClient.ts
 */
import { NarthexClient, parseCidrOrAddress } from "@narthex/api"
import { Config, Console, Duration, Effect } from "effect"

export const program = (name: string) =>
  Effect.gen(function* () {
    const { api } = yield* NarthexClient
    const { organization } = yield* api.auth.whoami()

    const made = yield* api.projects
      .create({ payload: { name } })
      .pipe(
        Effect.catchTag("RegionRequiredProblem", () =>
          Effect.flatMap(api.regions.list(), ({ regions: [first] }) =>
            api.projects.create({ payload: { name, ...(first === undefined ? {} : { region: first.region_id }) } })
          )
        )
      )
    const { operations, project } = made

    const params = { project_id: project.id }
    for (const { id } of operations) {
      const query = { wait: Duration.seconds(30) }
      const { operation } = yield* api.operations.get({ params: { ...params, operation_id: id }, query })
      yield* Console.log(`${operation.action} is ${operation.status}`)
    }

    // The API accepts only networks, so an address becomes a network of one address.
    const { address } = yield* api.auth.clientAddress()
    const cidr = yield* Effect.fromResult(parseCidrOrAddress(address))
    yield* api.ipAllow.add({ params, payload: { cidr, label: "this script" } })
    const { rules } = yield* api.ipAllow.list({ params })
    yield* Console.log(`${project.id} of ${organization.name} allows ${rules.map((rule) => rule.cidr).join(", ")}`)
    return { project, rules }
  })

if (import.meta.main) {
  const client = Config.all({
    baseUrl: Config.String("NARTHEX_URL").pipe(Config.withDefault("http://127.0.0.1:4400")),
    credential: Config.Redacted("NARTHEX_API_KEY")
  })
  await Effect.runPromise(
    Effect.flatMap(client, (settings) => Effect.provide(program("shop"), NarthexClient.layerFetch(settings)))
  )
}

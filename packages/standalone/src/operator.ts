/**
 * Operator commands against the store that the settings name: accounts, regions, signing keys, migration.
 *
 * With an embedded store they go beside the running platform through its socket; when nothing runs they start the
 * store for as long as the command takes.
 */
import { OperatorAccounts, Region, RegionCatalog, RegionId, type User, UserId } from "@narthex/core"
import { rotateSigningKeys, type Settings, settingsText } from "@narthex/http"
import { migrate } from "@narthex/postgres"
import { Console, DateTime, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { layerMasterSecret } from "./identity.ts"
import { layerDatabase, layerStorage } from "./store.ts"

const instant = (at: DateTime.Utc | null) => (at === null ? "-" : DateTime.formatIso(at))

const accountRow = (user: User) =>
  [user.id, user.email ?? "-", `enabled ${instant(user.enabled_at)}`, `disabled ${instant(user.disabled_at)}`].join(
    "  "
  )

const account = Argument.String("user_id").pipe(Argument.withDescription("The account's id, as the list shows it"))
const regionName = Argument.String("region_id")

/** The commands; `settings` are read before any of them runs. */
export const operatorCommands = (settings: Settings) => {
  const store = Effect.provide(layerStorage(settings, "beside"))
  const people = Effect.provide(OperatorAccounts.layer.pipe(Layer.provide(layerStorage(settings, "beside"))))

  const accounts = Command.make("accounts").pipe(
    Command.withDescription("List, enable and disable accounts"),
    Command.withSubcommands([
      Command.make("list", { limit: Flag.Int("limit").pipe(Flag.withDefault(1000)) }, ({ limit }) =>
        people(
          Effect.gen(function* () {
            const { list } = yield* OperatorAccounts
            for (const user of yield* list(limit)) yield* Console.log(accountRow(user))
          })
        )
      ).pipe(Command.withDescription("Oldest first")),
      Command.make("enable", { account }, ({ account: id }) =>
        people(
          OperatorAccounts.use(({ enable }) =>
            Effect.flatMap(enable(UserId.make(id)), (user) => Console.log(accountRow(user)))
          )
        )
      ).pipe(Command.withDescription("Let a pending account in, or take a disabled one back")),
      Command.make("disable", { account }, ({ account: id }) =>
        people(
          OperatorAccounts.use(({ disable }) =>
            Effect.flatMap(disable(UserId.make(id)), (user) => Console.log(accountRow(user)))
          )
        )
      ).pipe(Command.withDescription("Refuse every credential of the account from now on"))
    ])
  )

  const put = (id: string, change: (region: Region) => Region) =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      const known = (yield* catalog.all).find((entry) => entry.region.region_id === id)?.region
      const fresh = new Region({ region_id: RegionId.make(id), name: id, default: false, geo_lat: 0, geo_long: 0 })
      yield* catalog.put(change(known ?? fresh))
      yield* Console.log(`Region ${id} is active.`)
    })

  const regions = Command.make("regions").pipe(
    Command.withDescription("List, add, retire regions and mark the default"),
    Command.withSubcommands([
      Command.make("list", {}, () =>
        store(
          Effect.gen(function* () {
            for (const { active, region } of yield* (yield* RegionCatalog).all)
              yield* Console.log(
                `${region.region_id}  ${active ? "active" : "retired"}${region.default ? "  default" : ""}  ${region.name}`
              )
          })
        )
      ),
      Command.make(
        "add",
        {
          region: regionName,
          name: Flag.String("name").pipe(Flag.optional),
          location: Flag.String("location").pipe(Flag.optional),
          lat: Flag.Finite("lat").pipe(Flag.withDefault(0)),
          long: Flag.Finite("long").pipe(Flag.withDefault(0))
        },
        ({ lat, location, long, name, region: id }) =>
          store(
            put(
              id,
              (region) =>
                new Region({
                  ...region,
                  name: Option.getOrElse(name, () => region.name),
                  geo_lat: lat,
                  geo_long: long,
                  ...(Option.isSome(location) ? { location: location.value } : {})
                })
            )
          )
      ).pipe(Command.withDescription("Add a region, change its facts, or take a retired one back")),
      Command.make("default", { region: regionName }, ({ region: id }) =>
        store(put(id, (region) => new Region({ ...region, default: true })))
      ).pipe(Command.withDescription("Preselect a region in the console")),
      Command.make("retire", { region: regionName }, ({ region: id }) =>
        store(
          Effect.gen(function* () {
            const retired = yield* (yield* RegionCatalog).retire(RegionId.make(id))
            yield* Console.log(retired ? `Region ${id} takes no more projects.` : `There is no active region ${id}.`)
          })
        )
      ).pipe(Command.withDescription("Take no more projects there; those that are there stay"))
    ])
  )

  const keys = Command.make("keys").pipe(
    Command.withDescription("Signing keys of session tokens"),
    Command.withSubcommands([
      Command.make("rotate", {}, () =>
        rotateSigningKeys().pipe(
          Effect.flatMap(({ active_from, kid, old_published_until }) =>
            Console.log(
              `Key ${kid} signs from ${instant(active_from)}; the old ones stay published until ${instant(old_published_until)}.`
            )
          ),
          Effect.provide(layerMasterSecret(settings).pipe(Layer.provideMerge(layerStorage(settings, "beside"))))
        )
      ).pipe(Command.withDescription("Make a new key; the old ones stay published long enough"))
    ])
  )

  return [
    accounts,
    regions,
    keys,
    Command.make("settings", {}, () => Effect.flatMap(settingsText, Console.log)).pipe(
      Command.withDescription("Show every setting, and which are given; no values")
    ),
    Command.make("migrate", {}, () => Effect.provide(migrate, layerDatabase(settings, "beside"))).pipe(
      Command.withDescription("Bring the database's schema up to date")
    )
  ] as const
}

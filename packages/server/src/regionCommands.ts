/**
 * `narthex-server regions …`: the catalog is the operator's.
 *
 * Pitfall: `RegionCatalog.put` on a region that was only meant to be marked. It adds what does not exist and takes back
 * what is retired, so every command but `add` looks for the region first.
 */
import { Region, RegionCatalog, RegionId } from "@narthex/core"
import { Console, Effect, type Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"

/** The command names a region with which it cannot do what was asked. Nothing changed. */
export class RegionRefused extends Schema.TaggedError<RegionRefused>()("RegionRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

const name = Argument.String("region_id")

/** A region is a label of its endpoints' host names; `NARTHEX_REGIONS` asks for the same form. */
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

const find = (id: string) =>
  Effect.map(
    RegionCatalog.use(({ all }) => all),
    (entries) => entries.find(({ region }) => region.region_id === id)
  )

const known = Effect.fnUntraced(function* (id: string) {
  const entry = yield* find(id)
  return entry === undefined
    ? yield* new RegionRefused({ reason: `There is no region "${id}". \`regions list\` shows those that exist.` })
    : entry
})

const list = Effect.gen(function* () {
  for (const { active, region } of yield* (yield* RegionCatalog).all)
    yield* Console.log(
      `${region.region_id}  ${active ? "active" : "retired"}${region.default ? "  default" : ""}  ${region.name}`
    )
})

interface Facts {
  readonly name: Option.Option<string>
  readonly location: Option.Option<string>
  readonly lat: Option.Option<number>
  readonly long: Option.Option<number>
}

const add = Effect.fnUntraced(function* (id: string, { lat, location, long, name }: Facts) {
  if (!label.test(id))
    return yield* new RegionRefused({
      reason: `"${id}" cannot be a region: lower-case letters, digits and dashes, at most 63, no dash at either end.`
    })
  const region = (yield* find(id))?.region
  const place = Option.getOrElse(location, () => region?.location)
  yield* (yield* RegionCatalog).put(
    new Region({
      region_id: RegionId.make(id),
      name: Option.getOrElse(name, () => region?.name ?? id),
      default: region?.default ?? false,
      geo_lat: Option.getOrElse(lat, () => region?.geo_lat ?? 0),
      geo_long: Option.getOrElse(long, () => region?.geo_long ?? 0),
      ...(place === undefined ? {} : { location: place })
    })
  )
  yield* Console.log(`Region ${id} is active.`)
})

const makeDefault = Effect.fnUntraced(function* (id: string) {
  const { active, region } = yield* known(id)
  if (!active)
    return yield* new RegionRefused({ reason: `Region "${id}" is retired. \`regions add ${id}\` takes it back.` })
  yield* (yield* RegionCatalog).put(new Region({ ...region, default: true }))
  yield* Console.log(`Region ${id} is the default.`)
})

const retire = Effect.fnUntraced(function* (id: string) {
  const { region } = yield* known(id)
  yield* (yield* RegionCatalog).retire(region.region_id)
  yield* Console.log(`Region ${id} takes no more projects.`)
})

/** The commands, on the catalog of this layer. */
export const regionCommands = <E>(catalog: Layer.Layer<RegionCatalog, E>) => {
  const store = Effect.provide(catalog)
  const facts = {
    name: Flag.String("name").pipe(Flag.optional),
    location: Flag.String("location").pipe(Flag.optional),
    lat: Flag.Finite("lat").pipe(Flag.optional),
    long: Flag.Finite("long").pipe(Flag.optional)
  }
  return Command.make("regions").pipe(
    Command.withDescription("List, add, retire regions and mark the default"),
    Command.withSubcommands([
      Command.make("list", {}, () => store(list)).pipe(Command.withDescription("In the order of their addition")),
      Command.make("add", { region: name, ...facts }, ({ region, ...given }) => store(add(region, given))).pipe(
        Command.withDescription("Add a region, change the facts that are given, or take a retired one back")
      ),
      Command.make("default", { region: name }, ({ region }) => store(makeDefault(region))).pipe(
        Command.withDescription("Preselect an active region in the console")
      ),
      Command.make("retire", { region: name }, ({ region }) => store(retire(region))).pipe(
        Command.withDescription("Take no more projects there; those that are there stay")
      )
    ])
  )
}

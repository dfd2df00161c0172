/**
 * `narthex-server regions …`: operators change the region catalog.
 *
 * Pitfall: looking a region up and then changing it. Two commands at once would lose one change, or reactivate a region
 * that was retired in between. `RegionCatalog.edit` is one step.
 */
import { printTable, rows } from "@narthex/cli/manner"
import { type AuditLog, isRegionId, Region, RegionCatalog, RegionId, type Transaction } from "@narthex/core"
import { Console, Duration, Effect, type Layer, Option, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { auditedRegion } from "./operatorAudit.ts"

/** The command cannot be applied to the region. Nothing changed. `reason` is a sentence for the operator. */
export class RegionRefused extends Schema.TaggedError<RegionRefused>()("RegionRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

const name = Argument.String("region_id")

const unknown = (id: string) =>
  new RegionRefused({ reason: `There is no region "${id}". \`regions list\` shows those that exist.` })

/** An age in whole seconds, at least one. */
const ago = (ms: number) => `${Duration.format(Duration.seconds(Math.max(1, Math.floor(ms / 1_000))))} ago`

const list = Effect.gen(function* () {
  const { all, uses } = yield* RegionCatalog
  const entries = yield* all
  const used = new Map((yield* uses).map((use) => [use.region_id, use]))
  yield* printTable(
    rows(
      ["region", "name", "state", "default", "location", "runners", "last seen", "computes", "projects"],
      ...entries.map(({ active, region }) => {
        const { computes = 0, projects = 0, runners = 0, seen_ms = null } = used.get(region.region_id) ?? {}
        return [
          region.region_id,
          region.name,
          active ? "active" : "retired",
          region.default ? "yes" : "no",
          region.location,
          String(runners),
          seen_ms === null ? "never" : ago(seen_ms),
          String(computes),
          String(projects)
        ]
      })
    ),
    "No regions."
  )
})

interface Facts {
  readonly name: Option.Option<string>
  readonly location: Option.Option<string>
  readonly lat: Option.Option<number>
  readonly long: Option.Option<number>
}

const add = Effect.fnUntraced(function* (id: string, { lat, location, long, name }: Facts) {
  if (!isRegionId(id))
    return yield* new RegionRefused({
      reason: `"${id}" is not a region id: use lower-case letters, digits and dashes, at most 63, without a dash at either end.`
    })
  const change = (yield* RegionCatalog).edit(RegionId.make(id), (entry) => {
    const region = entry?.region
    const place = Option.getOrElse(location, () => region?.location)
    return Result.succeed(
      new Region({
        region_id: RegionId.make(id),
        name: Option.getOrElse(name, () => region?.name ?? id),
        default: region?.default ?? false,
        geo_lat: Option.getOrElse(lat, () => region?.geo_lat ?? 0),
        geo_long: Option.getOrElse(long, () => region?.geo_long ?? 0),
        ...(place === undefined ? {} : { location: place })
      })
    )
  })
  yield* auditedRegion("region.added", id, change)
  yield* Console.log(`Region ${id} is active.`)
  const others = (yield* (yield* RegionCatalog).all).length > 1
  if (others)
    yield* Console.log("The store has several regions: set NARTHEX_REGION in every process of narthex-server.")
})

const makeDefault = Effect.fnUntraced(function* (id: string) {
  const change = (yield* RegionCatalog).edit(RegionId.make(id), (entry) => {
    if (entry === undefined) return Result.fail(unknown(id))
    if (entry.active) return Result.succeed(new Region({ ...entry.region, default: true }))
    return Result.fail(
      new RegionRefused({ reason: `Region "${id}" is retired. \`regions add ${id}\` reactivates it.` })
    )
  })
  yield* auditedRegion("region.made_default", id, change)
  yield* Console.log(`Region ${id} is the default.`)
})

const retire = Effect.fnUntraced(function* (id: string) {
  const catalog = yield* RegionCatalog
  const change = Effect.gen(function* () {
    const retired = yield* catalog.retire(RegionId.make(id))
    if (!retired && !(yield* catalog.all).some(({ region }) => region.region_id === id)) return yield* unknown(id)
  })
  yield* auditedRegion("region.retired", id, change)
  const projects = (yield* catalog.uses).find(({ region_id }) => region_id === id)?.projects ?? 0
  yield* Console.log(`Region ${id} is retired: it takes no new projects.`)
  if (projects > 0)
    yield* Console.log(`Projects that stay there: ${projects}. Keep a runner and a proxy of the region running.`)
})

/** The commands on the catalog of a layer. */
export const regionCommands = <E>(catalog: Layer.Layer<AuditLog | RegionCatalog | Transaction, E>) => {
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
      Command.make("list", {}, () => store(list)).pipe(
        Command.withDescription("List regions in the order in which they were added")
      ),
      Command.make("add", { region: name, ...facts }, ({ region, ...given }) => store(add(region, given))).pipe(
        Command.withDescription("Add a region, change the given details, or reactivate a retired region")
      ),
      Command.make("default", { region: name }, ({ region }) => store(makeDefault(region))).pipe(
        Command.withDescription("Make an active region the default, which the console preselects")
      ),
      Command.make("retire", { region: name }, ({ region }) => store(retire(region))).pipe(
        Command.withDescription("Retire a region: it takes no new projects and keeps existing ones")
      )
    ])
  )
}

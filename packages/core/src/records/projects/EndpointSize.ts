/**
 * The size of an endpoint: what its compute may take of a machine, by a name from the operator's catalog
 * (docs/design/api.md, Sizes of endpoints). The rules are pure.
 *
 * An endpoint keeps the numbers of its size as they were when it was chosen, so a catalog that changes or loses a size
 * moves no running compute and no quota.
 */
import { Context, Result, Schema } from "effect"
import { means } from "../../means.ts"
import { InvalidMember } from "../../Refusals.ts"

const gibibyte = 1024 ** 3

const fields = {
  name: Schema.String.annotateKey(means("The name of the size.", "small")),
  cpus: Schema.Finite.annotateKey(means("How many CPUs the compute may use.", 0.5)),
  memory_bytes: Schema.Int.annotateKey(means("How much memory the compute may use, in bytes.", gibibyte)),
  disk_bytes: Schema.Int.annotateKey(
    means("How much disk the compute gets where it has one of its own, in bytes.", 20 * gibibyte)
  )
}

export const EndpointSize = Schema.Struct(fields).annotate({ identifier: "EndpointSize" })
export type EndpointSize = typeof EndpointSize.Type

/** A size of the catalog. */
export const OfferedSize = Schema.Struct({
  ...fields,
  default: Schema.Boolean.annotateKey(means("Whether an endpoint gets it when no size is named.", true))
}).annotate({ identifier: "OfferedSize" })
export type OfferedSize = typeof OfferedSize.Type

/** The memory that a local server with the sessions of the platform needs. */
export const leastMemory = 128 * 1024 ** 2

export const isSizeName = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(text)

/** Whether endpoints can be given these sizes: distinct names, sensible numbers, and one default, unless there are none. */
export const isSizeCatalog = (sizes: ReadonlyArray<OfferedSize>): boolean =>
  sizes.every(
    ({ cpus, disk_bytes, memory_bytes, name }) =>
      isSizeName(name) && cpus >= 0.05 && cpus <= 1024 && memory_bytes >= leastMemory && disk_bytes >= 1
  ) &&
  new Set(sizes.map(({ name }) => name)).size === sizes.length &&
  sizes.filter((size) => size.default).length === Math.min(1, sizes.length)

/** The sizes that endpoints can be given, in the order in which people see them. */
export const SizeCatalog = Context.Reference<ReadonlyArray<OfferedSize>>("@narthex/core/records/projects/SizeCatalog", {
  defaultValue: () => []
})

const numbersOf = ({ cpus, disk_bytes, memory_bytes, name }: OfferedSize): EndpointSize => ({
  name,
  cpus,
  memory_bytes,
  disk_bytes
})

/** The size that an endpoint gets when none is named; `null`: the catalog is empty. */
export const defaultSize = (catalog: ReadonlyArray<OfferedSize>): EndpointSize | null => {
  const found = catalog.find((size) => size.default)
  return found === undefined ? null : numbersOf(found)
}

/** The size of a name; of none, the default. A name that the catalog does not have is refused, also a former one. */
export const chooseSize = (
  catalog: ReadonlyArray<OfferedSize>,
  name: string | null
): Result.Result<EndpointSize | null, InvalidMember> => {
  if (name === null) return Result.succeed(defaultSize(catalog))
  const found = catalog.find((size) => size.name === name)
  if (found !== undefined) return Result.succeed(numbersOf(found))
  const names = catalog.map((size) => size.name).join(", ")
  const reason = names === "" ? "This platform has no sizes." : `There is no such size. The sizes are: ${names}.`
  return Result.fail(new InvalidMember({ path: ["size"], reason }))
}

/** Whether two sizes give a compute the same. Another name alone restarts nothing. */
export const isSameSize = (a: EndpointSize | null, b: EndpointSize | null): boolean =>
  a?.cpus === b?.cpus && a?.memory_bytes === b?.memory_bytes && a?.disk_bytes === b?.disk_bytes

/** The form of the catalog of sizes (docs/design/api.md, Sizes of endpoints). */
import { isSizeCatalog, isSizeName, leastMemory, type OfferedSize } from "@narthex/core"
import { Result, Schema } from "effect"
import { bytes, type Form, jsonList } from "./forms.ts"

const bytesIn = (text: string) => Result.getOrElse(bytes.read(text), () => 0)

const Bytes = Schema.String.check(
  Schema.makeFilter((text) => bytesIn(text) >= leastMemory || 'Expected a size like "4 GiB", of at least 128 MiB')
)

const WrittenSize = Schema.Struct({
  name: Schema.String.check(
    Schema.makeFilter((name) => isSizeName(name) || "Expected small letters, digits and hyphens, at most 32")
  ),
  cpus: Schema.Finite.check(Schema.isBetween({ minimum: 0.05, maximum: 1024 })),
  memory: Bytes,
  disk: Bytes,
  default: Schema.optionalKey(Schema.Boolean)
})

const offered = ({ cpus, default: isDefault = false, disk, memory, name }: typeof WrittenSize.Type): OfferedSize => ({
  name,
  cpus,
  memory_bytes: bytesIn(memory),
  disk_bytes: bytesIn(disk),
  default: isDefault
})

const writtenSizes = jsonList(
  "sizes",
  Schema.NonEmptyArray(WrittenSize).check(
    Schema.makeFilter(
      (sizes) => isSizeCatalog(sizes.map(offered)) || "Expected distinct names, and one size that is the default"
    )
  )
)

/** The catalog of sizes, one of which is the default. */
export const sizesForm: Form<ReadonlyArray<OfferedSize>> = {
  read: (text) => Result.map(writtenSizes.read(text), (written) => written.map(offered))
}

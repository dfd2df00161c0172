/** A catalog of sizes for tests: `small`, the default, and `large`. */
import type { OfferedSize } from "../src/records/projects/EndpointSize.ts"

const gibibyte = 1024 ** 3

export const smallSize: OfferedSize = {
  name: "small",
  cpus: 0.5,
  memory_bytes: gibibyte,
  disk_bytes: 20 * gibibyte,
  default: true
}

export const largeSize: OfferedSize = {
  name: "large",
  cpus: 2,
  memory_bytes: 4 * gibibyte,
  disk_bytes: 80 * gibibyte,
  default: false
}

export const testSizes: ReadonlyArray<OfferedSize> = [smallSize, largeSize]

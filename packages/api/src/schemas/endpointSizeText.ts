/** The size of an endpoint as people read it. */
import type { EndpointSize } from "@narthex/core"

const gibibytes = (bytes: number): string => `${Math.round((bytes / 1024 ** 3) * 100) / 100} GiB`

/** `0.5 CPU, 1 GiB of memory, 20 GiB of disk` */
export const sizeNumbers = ({ cpus, disk_bytes, memory_bytes }: Omit<EndpointSize, "name">): string =>
  `${cpus} CPU, ${gibibytes(memory_bytes)} of memory, ${gibibytes(disk_bytes)} of disk`

/** `small: 0.5 CPU, 1 GiB of memory, 20 GiB of disk`; `null`: no limits. */
export const endpointSizeText = (size: EndpointSize | null): string =>
  size === null ? "no limits" : `${size.name}: ${sizeNumbers(size)}`

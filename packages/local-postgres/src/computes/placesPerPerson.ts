/** How many starts and copies of one person share a machine. */
import { availableParallelism } from "node:os"

const between = (least: number, most: number, value: number) => Math.min(most, Math.max(least, value))

/**
 * The part of `operations.classes` (`RunnerSettings`) that fits a machine with so many cores, left out: this one: a start
 * for each core, 2 to 8, and a copy for each two, 1 to 4.
 *
 * A start and a copy keep a core busy, and the disk. Those of a person who fills every place would take the cores from
 * the next one, who has waited for no place.
 */
export const placesPerPerson = (cores: number = availableParallelism()) => ({
  computes: { per_org: between(2, 8, cores) },
  branches: { per_org: between(1, 4, Math.floor(cores / 2)) }
})

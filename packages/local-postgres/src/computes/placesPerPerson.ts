/** How many starts and copies of one person share a machine. */
import { availableParallelism } from "node:os"

const between = (least: number, most: number, value: number) => Math.min(most, Math.max(least, value))

/**
 * The part of `operations.classes` (`RunnerSettings`) that fits computes on one machine. The organizations of one person
 * start or stop a compute for each core at once, 2 to 8, and create or reset a branch for each two cores, 2 to 4.
 * `cores` are those of this machine if left out.
 *
 * More of them would keep every core and the disk busy, and an operation of another person, which has its place at once,
 * would take longer for it. Not fewer than two: one large copy must not keep every other branch of a person waiting.
 */
export const placesPerPerson = (cores: number = availableParallelism()) => ({
  computes: { per_org: between(2, 8, cores) },
  branches: { per_org: between(2, 4, Math.floor(cores / 2)) }
})

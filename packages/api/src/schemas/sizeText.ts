/** A number of bytes in words, the same on the command line and in the console. Programs get the number itself. */

const units = ["B", "kB", "MB", "GB", "TB", "PB"] as const

/**
 * The size in the largest SI unit (1 kB = 1000 B) that makes the number at least 1, with one decimal: `33.2 MB`.
 *
 * Pitfall: choosing the unit before rounding. 999,960 bytes would be 1000.0 kB.
 */
export const sizeText = (bytes: number): string => {
  const power = units.findIndex((_, n) => n === units.length - 1 || Number((bytes / 1000 ** n).toFixed(1)) < 1000)
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}

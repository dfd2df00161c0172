/** The names of WAL segments, as Postgres forms them from the timeline and the place in the WAL. */

/** A place in the WAL (an LSN) as Postgres writes it: two hexadecimal halves. */
const placeForm = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

const half = 2n ** 32n

const placeOf = (lsn: string): bigint | undefined => {
  const [, high, low] = placeForm.exec(lsn) ?? []
  return high === undefined || low === undefined ? undefined : BigInt(`0x${high}`) * half + BigInt(`0x${low}`)
}

/** The most segments of a copy: 4 TB with segments of 4 MB. */
const most = 2 ** 20

export interface Stretch {
  readonly timeline: number
  /** The LSN at which it begins. */
  readonly first: string
  /** The LSN that follows its last byte. */
  readonly last: string
  /** The bytes of a segment. */
  readonly size: number
}

/**
 * The segments that a stretch of the WAL lies in, in order; `undefined` if it is none. The names are formed here and not
 * taken from the server, so that they name nothing outside its `pg_wal`.
 *
 * Pitfall: steps of a segment's size from `first` on. A stretch that begins late in a segment and ends early in another one
 * would lack the last. An LSN between two segments belongs to the former if something ends there.
 */
export const walSegments = ({ first, last, size, timeline }: Stretch): ReadonlyArray<string> | undefined => {
  const [from, to] = [placeOf(first), placeOf(last)]
  if (from === undefined || to === undefined || to <= from || !(timeline > 0)) return undefined
  if (!Number.isSafeInteger(size) || size <= 0 || half % BigInt(size) !== 0n) return undefined
  const bytes = BigInt(size)
  const [one, end] = [from / bytes, (to - 1n) / bytes]
  if (end - one >= most) return undefined
  const hex = (value: bigint) => value.toString(16).toUpperCase().padStart(8, "0")
  const perId = half / bytes
  return Array.from({ length: Number(end - one) + 1 }, (_, n) => {
    const segment = one + BigInt(n)
    return hex(BigInt(timeline)) + hex(segment / perId) + hex(segment % perId)
  })
}

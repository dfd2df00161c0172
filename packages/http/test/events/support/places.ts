/** Where a stream is cut in two: at every byte in the long form; in the short one where parsers decide, and by chance. */
import { long } from "../../../../../test/harness/long.ts"

const newline = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a

/** Bytes next to which a parser changes its mind: ends of lines and of field names, and all of a character of several. */
const decides = (byte: number | undefined): boolean =>
  byte !== undefined && (byte === newline || byte === carriageReturn || byte === colon || byte >= 0x80)

const shuffled = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all
    .map((it) => ({ it, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ it }) => it)

/** Positions from `from` to `to`, inclusive. The short form takes some of them, first those next to what `decides`. */
export const places = (bytes: Uint8Array, from: number, to: number, short: number): ReadonlyArray<number> => {
  const all = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  if (long) return all
  const telling = all.filter((at) => decides(bytes[at - 1]) || decides(bytes[at]))
  const others = all.filter((at) => !telling.includes(at))
  const some = [...shuffled(telling).slice(0, Math.ceil((2 * short) / 3)), ...shuffled(others)]
  return [...new Set([from, to, ...some])].slice(0, short).sort((a, b) => a - b)
}

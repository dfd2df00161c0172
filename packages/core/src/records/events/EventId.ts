/**
 * Event ids: ULIDs laid out as 48 bits of milliseconds, 40 random bits (fresh per millisecond), a 32-bit counter
 * and 8 low bits (docs/design/events.md E18–E20). Texts of 26 upper-case characters: comparing texts compares ids.
 *
 * The low bits of a real event are 0. A frame of the broker takes the id of the position that it stands for with other
 * low bits, so it lies between that position and the next real event. This needs no clock and no coordination, and every
 * instance makes the same id.
 *
 * Pitfall: parsing a client's id elsewhere. Clients send ids of events and of frames, in upper or lower case, and only
 * `parseLastEventId` reads both.
 */
import { Hex } from "effect/encoding"

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const wellFormed = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i
const gapMark = 1
const overflowMark = 2

/** The position of an organization without events from which nothing was trimmed. */
export const noEvent = "00000000000000000000000000"

/** The 16 bytes of an id, most significant first; comparing them compares ids. */
export const eventIdToBytes = (id: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(16)
  let held = 0
  let bits = -2 // 26 characters carry 130 bits: the first two are zero
  let at = 0
  for (const character of id) {
    held = (held << 5) | alphabet.indexOf(character)
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = held >> bits
      held &= (1 << bits) - 1
    }
  }
  return bytes
}

/** The id in the 16 bytes from `offset` on. */
export const eventIdFromBytes = (bytes: Uint8Array, offset = 0): string => {
  let id = ""
  let held = 0
  let bits = 2
  for (let at = offset; at < offset + 16; at++) {
    held = (held << 8) | (bytes[at] ?? 0)
    bits += 8
    while (bits >= 5) {
      bits -= 5
      id += alphabet[held >> bits]
      held &= (1 << bits) - 1
    }
  }
  return id
}

/** The id of the `c32`-th event of a millisecond. */
export const makeEventId = (ms: number, r40: number, c32: number): string => {
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, Math.floor(ms / 2 ** 32))
  view.setUint32(2, ms % 2 ** 32)
  view.setUint8(6, Math.floor(r40 / 2 ** 32))
  view.setUint32(7, r40 % 2 ** 32)
  view.setUint32(11, c32)
  return eventIdFromBytes(bytes)
}

/** The arguments of `makeEventId`, and the low 8 bits. */
export const eventIdParts = (id: string) => {
  const view = new DataView(eventIdToBytes(id).buffer)
  return {
    ms: view.getUint16(0) * 2 ** 32 + view.getUint32(2),
    r40: view.getUint8(6) * 2 ** 32 + view.getUint32(7),
    c32: view.getUint32(11),
    low: view.getUint8(15)
  }
}

const withLow = (id: string, low: number) => {
  const bytes = eventIdToBytes(id)
  bytes[15] = low
  return eventIdFromBytes(bytes)
}

/** The position that an id stands for: the id itself for a real event, the newest real event before it for a broker frame. */
export const eventPosition = (id: string): string => withLow(id, 0)

/** The id of `resume.gap.v1` at this head. */
export const resumeGapId = (head: string): string => withLow(head, gapMark)

/** The id of `overflow.v1` at this head. */
export const overflowId = (head: string): string => withLow(head, overflowMark)

/** The UUID of the same 16 bytes: the form in which a database stores and orders ids. */
export const eventIdToUuid = (id: string): string => {
  const hex = Hex.encode(eventIdToBytes(id))
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

export const eventIdFromUuid = (uuid: string): string => {
  const digits = uuid.replaceAll("-", "")
  const bytes = new Uint8Array(16)
  for (let at = 0; at < 16; at++) bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  return eventIdFromBytes(bytes)
}

/** The meaning of a client's `Last-Event-ID` (docs/design/events.md E24, step 2). */
export type LastEventId =
  /** Absent or empty: from the head on. */
  | { readonly _tag: "Live" }
  | { readonly _tag: "Malformed" }
  | {
      readonly _tag: "After"
      /** As it was sent, in upper case. */
      readonly last_event_id: string
      /** The position that it stands for: the id of a real event. */
      readonly position: string
    }

/** Reads a `Last-Event-ID` header. Nothing is refused: a status of 4xx would stop a browser's EventSource for ever. */
export const parseLastEventId = (header: string | undefined): LastEventId => {
  if (header === undefined || header === "") return { _tag: "Live" }
  if (!wellFormed.test(header)) return { _tag: "Malformed" }
  const last_event_id = header.toUpperCase()
  return { _tag: "After", last_event_id, position: eventPosition(last_event_id) }
}

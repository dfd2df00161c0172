/** The model that the chaos test shares with its processes. */

/** The rows that writers contend for; each belongs to one of a few organizations. */
export const operations = 24

export const orgOf = (op: number) => `0192f0c1-2d3e-7abc-8def-01234567890${op % 4}`

/** An event as a tailer read it: position, id, operation and its version. */
export type Seen = readonly [pos: number, id: string, op: number, version: number]

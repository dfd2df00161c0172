/**
 * What a member of bodies means: a sentence, and an example. An example that is left out is derived from the member's
 * type; `undefined` leaves the member out of examples.
 */
export type MemberEntry = readonly [text: string, example?: unknown]

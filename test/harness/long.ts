/** The long form of a test: `npm run test:long`. The short form does the same work a few times. */
export const long = process.env["NARTHEX_TEST_LONG"] === "1"

/** How often, how many: in the short form, and in the long one. */
export const times = (short: number, inLong: number): number => (long ? inLong : short)

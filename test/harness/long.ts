/** The long form of a test: `npm run test:long`. The short form does the same work a few times. */
export const long = process.env["NARTHEX_TEST_LONG"] === "1"

/** Tests of the packed tarballs that install nothing: `npm run check` runs them, and the long forms. */
export const packed = long || process.env["NARTHEX_TEST_PACKED"] === "1"

/** A number of repetitions: that of the short form, or that of the long form. */
export const times = (short: number, inLong: number): number => (long ? inLong : short)

/** The version of this command line. A test compares it with package.json. */
export const version = "0.1.0"

/** A line of a passed test in the report: rounds done, outcomes seen. Never asserted. */
export const noteMark = "\u0001note "

export const note = (text: string): void => console.info(noteMark + text)

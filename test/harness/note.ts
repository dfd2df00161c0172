/** What a test wants a person to read after the run although it passed: rounds done, outcomes seen. Never asserted. */
export const noteMark = "\u0001note "

export const note = (text: string): void => console.info(noteMark + text)

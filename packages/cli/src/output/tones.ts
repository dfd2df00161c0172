/** The colours of state words. A colour only repeats what the word says (docs/design/cli.md C14). */

export type Tone = "good" | "moving" | "bad" | "quiet"

const tones: Readonly<Record<string, Tone>> = {
  ready: "good",
  active: "good",
  running: "good",
  finished: "good",
  succeeded: "good",
  accepted: "good",
  init: "moving",
  pending: "moving",
  scheduling: "moving",
  starting: "moving",
  stopping: "moving",
  cancelling: "moving",
  creating: "moving",
  deleting: "moving",
  revoking: "moving",
  failed: "bad",
  error: "bad",
  unknown: "bad",
  idle: "quiet",
  suspended: "quiet",
  disabled: "quiet",
  cancelled: "quiet",
  skipped: "quiet",
  revoked: "quiet",
  expired: "quiet",
  archived: "quiet",
  deleted: "quiet"
}

const codes: Readonly<Record<Tone, number>> = { good: 32, moving: 33, bad: 31, quiet: 2 }

const names = new Set(["state", "status"])

/** Whether cells under this head, or the fact of this name, are state words. */
export const isState = (name: string): boolean => names.has(name)

/** `text` is the word with its padding. A word that is not known stays as it is. `init → ready` is a change. */
export const painted = (word: string, text: string): string => {
  const tone = word.includes(" → ") ? "moving" : Object.hasOwn(tones, word) ? tones[word] : undefined
  return tone === undefined ? text : `\u001b[${codes[tone]}m${text}\u001b[0m`
}

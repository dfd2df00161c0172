/** Lifetimes that forms offer, in seconds, and times as words. */

export interface Option {
  readonly value: string
  readonly label: string
}

const hour = 3600
const day = 24 * hour

/** `""`: without end. */
export const lifetimes: ReadonlyArray<Option> = [
  { value: "", label: "never" },
  { value: `${hour}`, label: "1 hour" },
  { value: `${8 * hour}`, label: "8 hours" },
  { value: `${day}`, label: "1 day" },
  { value: `${7 * day}`, label: "7 days" },
  { value: `${30 * day}`, label: "30 days" }
]

/** A sandbox lives for a day at most (docs/design/api.md). */
export const sandboxLifetimes: ReadonlyArray<Option> = lifetimes.filter(
  ({ value }) => value !== "" && Number(value) <= day
)

/** Values of `suspend_timeout_seconds`; -1: never. */
export const suspendTimeouts: ReadonlyArray<Option> = [
  { value: "60", label: "1 minute" },
  { value: "300", label: "5 minutes" },
  { value: "1800", label: "30 minutes" },
  { value: `${hour}`, label: "1 hour" },
  { value: `${8 * hour}`, label: "8 hours" },
  { value: `${day}`, label: "1 day" },
  { value: "-1", label: "never" }
]

/** The time as an option; one that no option has is shown in seconds. */
export const suspendTimeoutLabel = (seconds: number): string =>
  suspendTimeouts.find(({ value }) => value === `${seconds}`)?.label ?? `${seconds} seconds`

/** The options, and the present value if no option has it. */
export const suspendTimeoutChoices = (seconds: number): ReadonlyArray<Option> =>
  suspendTimeouts.some(({ value }) => value === `${seconds}`)
    ? suspendTimeouts
    : [{ value: `${seconds}`, label: suspendTimeoutLabel(seconds) }, ...suspendTimeouts]

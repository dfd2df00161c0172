/**
 * A time in relation to now, as words: "5 minutes ago", "yesterday", "in 6 hours".
 *
 * `assets/console.js` has the same table, and updates the words while the page is open.
 */
const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60]
] as const

const english = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

/** `at` and `now` are in milliseconds since 1970. Less than 45 seconds away: "just now". */
export const relative = (at: number, now: number): string => {
  const seconds = (at - now) / 1000
  if (Math.abs(seconds) < 45) return "just now"
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["minute", 60]
  return english.format(Math.round(seconds / length), unit)
}

/** How far an instant is from now, in words, for people at a terminal. Programs get the instant itself. */

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** From this distance on, a date says more than a number of days. */
const farthest = 60 * day

/**
 * `at` and `now` are milliseconds since 1970. A clock that is a little behind the server's does not show a future.
 *
 * Pitfall: rounding a future down. A branch just created with `--ttl 8h` would expire in 7 h.
 */
export const relativeTime = (at: number, now: number): string => {
  const distance = Math.abs(at - now)
  if (distance >= farthest) return new Date(at).toISOString().slice(0, 10)
  if (distance < 10 * second) return "now"
  return at > now ? `in ${inWords(distance, Math.round)}` : `${inWords(distance, Math.floor)} ago`
}

const inWords = (distance: number, whole: (amount: number) => number): string => {
  const [seconds, minutes, hours] = [whole(distance / second), whole(distance / minute), whole(distance / hour)]
  if (seconds < 60) return `${seconds} s`
  if (minutes < 60) return `${minutes} min`
  return hours < 48 ? `${hours} h` : `${whole(distance / day)} d`
}

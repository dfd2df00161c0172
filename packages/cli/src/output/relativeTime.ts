/** How far an instant is from now, in words, for people at a terminal. Programs get the instant itself. */

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** From this distance on, a date says more than a number of days. */
const farthest = 60 * day

/** Both in milliseconds since 1970. A clock that is a little behind the server's does not show a future. */
export const relativeTime = (at: number, now: number): string => {
  const distance = Math.abs(at - now)
  if (distance >= farthest) return new Date(at).toISOString().slice(0, 10)
  if (distance < 10 * second) return "now"
  const amount = inWords(distance)
  return at > now ? `in ${amount}` : `${amount} ago`
}

const inWords = (distance: number): string => {
  if (distance < minute) return `${Math.floor(distance / second)} s`
  if (distance < hour) return `${Math.floor(distance / minute)} min`
  if (distance < 2 * day) return `${Math.floor(distance / hour)} h`
  return `${Math.floor(distance / day)} d`
}

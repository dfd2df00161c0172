/**
 * How many milliseconds a header `Retry-After` asks to wait: seconds, or a date (RFC 9110 §10.2.3). `undefined` when it
 * says neither.
 */
export const retryAfterMillis = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Content negotiation of event streams. */

/** From the most specific to the least. */
const fitting = ["text/event-stream", "text/*", "*/*"]

/**
 * Whether an `Accept` header accepts event streams: the most specific range that fits decides (RFC 9110 §12.5.1). A
 * missing or empty header accepts everything.
 */
export const acceptsEventStream = (accept: string | undefined): boolean => {
  if (accept === undefined || accept.trim() === "") return true
  const ranges = accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    return { type, refused: parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter)) }
  })
  const deciding = fitting.map((type) => ranges.filter((it) => it.type === type)).find((found) => found.length > 0)
  return deciding?.some(({ refused }) => !refused) ?? false
}

/** Local and relative times. */

const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60]
]
const english = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

/** The same words as `src/components/relative.ts`. */
const relative = (at) => {
  const seconds = (at - Date.now()) / 1000
  if (Math.abs(seconds) < 45) return "just now"
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units.at(-1)
  return english.format(Math.round(seconds / length), unit)
}

/** Shows a time in the browser's time zone, and keeps a relative one true. */
class LocalTime extends HTMLElement {
  connectedCallback() {
    const time = this.querySelector("time")
    const at = new Date(time?.dateTime ?? "")
    if (time === null || Number.isNaN(at.getTime())) return
    const absolute = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
    time.title = this.hasAttribute("relative") ? absolute : time.dateTime
    if (!this.hasAttribute("relative")) time.textContent = absolute
  }

  update() {
    const time = this.querySelector("time")
    const words = time === null ? "" : relative(new Date(time.dateTime).getTime())
    if (time !== null && time.textContent !== words) time.textContent = words
  }
}

setInterval(() => {
  if (!document.hidden) for (const it of document.querySelectorAll("local-time[relative]")) it.update()
}, 20_000)

customElements.define("local-time", LocalTime)

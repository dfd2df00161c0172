/** Live regions: parts of the page that reload after an event. All markup comes from the server. */

/**
 * A page as a document. Its scripts do not run.
 *
 * Pitfall: `DOMParser` or `innerHTML`. The content security policy forbids them; a request for a document is parsed by
 * the browser itself.
 */
const fetchDocument = (address) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open("GET", address)
    request.responseType = "document"
    request.timeout = 30_000
    request.onload = () => resolve(request)
    request.onerror = reject
    request.ontimeout = reject
    request.send()
  })

/** The markup without relative times, which change by themselves. */
const markupOf = (element) => {
  const copy = element.cloneNode(true)
  for (const time of copy.querySelectorAll("time")) time.replaceChildren()
  return copy.outerHTML
}

const regionsOf = (element) => (element.getAttribute("regions") ?? "").split(" ").filter((id) => id !== "")

/** The markup of each region as the server sent it, before custom elements change it. */
const served = new WeakMap()
for (const live of document.querySelectorAll("live-region"))
  for (const id of regionsOf(live)) {
    const region = document.getElementById(id)
    if (region !== null) served.set(region, markupOf(region))
  }

/** Whether the person is doing something inside the element, which a replacement would undo. */
const inUse = (element) =>
  element !== null &&
  (element.querySelector(":modal, :popover-open") !== null ||
    (element.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")))

/** What a control does: two with the same answer are the same control of older and newer markup. */
const identityOf = (control) =>
  JSON.stringify([
    control.id === "" ? (control.getAttribute("aria-label") ?? control.textContent) : `#${control.id}`,
    control.getAttribute("href"),
    control.form?.getAttribute("action"),
    control.closest("copy-button")?.getAttribute("for")
  ])

/**
 * Remembers the control inside of `old` that has the focus. The answer gives the focus to the same control of the
 * element that replaced it, else to the heading of that element or to the element itself.
 *
 * Pitfall: giving it to the control at the same place. The person presses Enter and cancels another operation.
 */
const keepFocus = (old) => {
  const control = document.activeElement
  if (!old.contains(control)) return () => undefined
  const identity = identityOf(control)
  return (next) => {
    const same = controlsIn(next).find((it) => identityOf(it) === identity)
    const heading = [...next.querySelectorAll("h1, h2, h3")].find((it) => it.checkVisibility())
    const place = same ?? heading ?? next
    if (same === undefined) place.tabIndex = -1
    place.focus({ preventScroll: true })
    if (document.activeElement !== place) document.getElementById("main")?.focus({ preventScroll: true })
  }
}

/** Replaces an element by the one that the server sent for it. */
const replaceRegion = (old, next) => {
  const restoreFocus = keepFocus(old)
  served.set(next, markupOf(next))
  old.replaceWith(next)
  restoreFocus(next)
}

/** A notice can be read for so many milliseconds after the page was opened. */
const readingTime = 5000

const removeNotices = () => {
  for (const notice of document.querySelectorAll("[data-passing]")) {
    if (notice.contains(document.activeElement)) document.getElementById("main")?.focus({ preventScroll: true })
    notice.remove()
  }
}

/** At least so many milliseconds are between two reloads of a page's regions. */
const pause = 1000

/**
 * Follows an event stream, and reloads the regions of the page after an event.
 *
 * While the page is hidden the stream is closed: over HTTP/1.1 a browser has six connections for all its tabs. A stream
 * that is opened again starts without a position, so the regions are reloaded once it is open, and no change is missed.
 * After a network failure the browser reconnects with `Last-Event-ID` by itself.
 */
class LiveRegion extends HTMLElement {
  #source
  #reopening
  #refreshing = false
  #wanted = false
  #pause = pause
  #wait = 1000
  #visible = () => (document.hidden ? this.#close("Paused") : this.#open())
  #leave = () => this.#close("Paused")

  connectedCallback() {
    document.addEventListener("visibilitychange", this.#visible)
    addEventListener("pagehide", this.#leave)
    addEventListener("pageshow", this.#visible)
    if (!document.hidden) this.#open()
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#visible)
    removeEventListener("pagehide", this.#leave)
    removeEventListener("pageshow", this.#visible)
    this.#close("")
  }

  #showState(state) {
    const place = document.querySelector("[data-live]")
    if (place === null || place.textContent === state) return
    place.textContent = state
    place.classList.toggle("state", state !== "")
    place.classList.toggle("good", state === "Live")
  }

  #open() {
    if (this.#source !== undefined) return
    clearTimeout(this.#reopening)
    const source = new EventSource(this.getAttribute("src"))
    this.#source = source
    let opened = false
    source.addEventListener("open", () => {
      this.#showState("Live")
      this.#wait = 1000
      if (!opened) this.#refresh()
      opened = true
    })
    source.addEventListener("error", () => {
      this.#showState("Reconnecting…")
      // A refusal closes an EventSource for good. If the session has ended, reloading the page finds out.
      if (source.readyState !== EventSource.CLOSED) return
      this.#source = undefined
      this.#refresh()
      this.#reopening = setTimeout(() => document.hidden || this.#open(), this.#wait)
      this.#wait = Math.min(this.#wait * 2, 60_000)
    })
    for (const type of ["operation.updated.v1", "resume.gap.v1", "overflow.v1"])
      source.addEventListener(type, () => this.#refresh())
  }

  #close(state) {
    clearTimeout(this.#reopening)
    this.#source?.close()
    this.#source = undefined
    this.#showState(state)
  }

  /** Reloads the regions soon: events that come close together cause one reload, and a storm one a second. */
  #refresh() {
    this.#wanted = true
    if (this.#refreshing) return
    this.#refreshing = true
    setTimeout(async () => {
      this.#wanted = false
      try {
        await this.#reload()
        this.#pause = pause
      } catch {
        this.#showState("Reconnecting…")
        this.#wanted = true
        this.#pause = Math.min(this.#pause * 2, 60_000)
      }
      setTimeout(() => {
        this.#refreshing = false
        if (this.#wanted && this.isConnected && !document.hidden) this.#refresh()
      }, this.#pause)
    }, 250)
  }

  async #reload() {
    const regions = regionsOf(this)
    if (regions.length === 0 && this.#source !== undefined) return
    if (regions.some((id) => inUse(document.getElementById(id)))) {
      this.#wanted = true
      return
    }
    // Not `location`: a form shown again with errors is at the form's address.
    const here = this.getAttribute("page") ?? location.pathname
    const { response: page, responseURL, status } = await fetchDocument(here)
    // Redirected: signed out, or the account is pending.
    if (new URL(responseURL).pathname !== new URL(here, location.href).pathname) return location.replace(here)
    if (status !== 200 || page === null) throw new Error(`${here}: ${status}`)
    for (const id of regions) {
      const old = document.getElementById(id)
      const next = page.getElementById(id)
      if (old === null || next === null || served.get(old) === markupOf(next)) continue
      replaceRegion(old, next)
      // The notice of the last action is older than what the page shows now.
      setTimeout(removeNotices, Math.max(0, readingTime - performance.now()))
    }
  }
}

customElements.define("live-region", LiveRegion)

/**
 * Local times, copy buttons and live activity. Pages work without this script.
 *
 * Data from events is set as text, never as markup; all markup comes from the server.
 */

/** Shows a time in the browser's time zone. */
class LocalTime extends HTMLElement {
  connectedCallback() {
    const time = this.querySelector("time")
    const at = new Date(time?.dateTime ?? "")
    if (time === null || Number.isNaN(at.getTime())) return
    time.title = time.dateTime
    time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
  }
}

/** Copies the text of the element with the id `for`. */
class CopyButton extends HTMLElement {
  connectedCallback() {
    if (this.querySelector("button") !== null) return
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = "Copy"
    button.setAttribute("aria-label", this.getAttribute("label") ?? "Copy")
    const said = document.createElement("span")
    said.className = "hidden"
    said.setAttribute("role", "status")
    button.addEventListener("click", async () => {
      const source = document.getElementById(this.getAttribute("for") ?? "")
      try {
        await navigator.clipboard.writeText(source?.textContent ?? "")
        button.textContent = "Copied"
        button.setAttribute("aria-label", "Copied")
        said.textContent = "Copied."
      } catch {
        // No permission, or no secure origin: select the text, so that the keyboard can copy it.
        if (source !== null) getSelection()?.selectAllChildren(source)
        said.textContent = "Selected. Copy it with the keyboard."
      }
    })
    this.append(button, said)
  }
}

const tones = { scheduling: "busy", running: "busy", cancelling: "busy", finished: "good", failed: "bad", error: "bad" }
const maxRows = 50

/**
 * Follows an event stream.
 *
 * While the page is hidden the stream is closed: over HTTP/1.1 a browser has six connections for all its tabs. A stream
 * that is opened again starts without a position, so the regions are reloaded once it is open, and no change is missed.
 * After a network failure the browser reconnects with `Last-Event-ID` by itself.
 */
class LiveActivity extends HTMLElement {
  #source
  #reopening
  #refreshing
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
    const place = this.querySelector("[data-state]")
    if (place !== null && place.textContent !== state) place.textContent = state
  }

  #open() {
    if (this.#source !== undefined) return
    clearTimeout(this.#reopening)
    this.#showState("Connecting…")
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
    source.addEventListener("operation.updated.v1", (event) => {
      this.#add(event)
      this.#refresh()
    })
    for (const type of ["resume.gap.v1", "overflow.v1"]) source.addEventListener(type, () => this.#refresh())
  }

  #close(state) {
    clearTimeout(this.#reopening)
    this.#source?.close()
    this.#source = undefined
    this.#showState(state)
  }

  #add(message) {
    let envelope
    try {
      envelope = JSON.parse(message.data)
    } catch {
      return
    }
    const { action, operation_id: id, status } = envelope.data ?? {}
    const feed = this.querySelector("ol")
    const row = this.querySelector("template")?.content.cloneNode(true).firstElementChild
    if (feed === null || !row || typeof id !== "string") return
    row.dataset.operation = id
    const word = row.querySelector("[data-status]")
    word.textContent = String(status)
    word.classList.add(Object.hasOwn(tones, status) ? tones[status] : "idle")
    row.querySelector("[data-action]").textContent = `${String(action).replaceAll("_", " ")} `
    row.querySelector("[data-subject]").textContent = envelope.project_id ?? ""
    row.querySelector("time").dateTime = String(envelope.at)
    feed.querySelector(`[data-operation="${CSS.escape(id)}"]`)?.remove()
    feed.prepend(row)
    while (feed.children.length > maxRows) feed.lastElementChild.remove()
    this.querySelector("[data-empty]")?.remove()
  }

  /** Reloads the page's regions after 250 ms without another request to do so. */
  #refresh() {
    clearTimeout(this.#refreshing)
    this.#refreshing = setTimeout(() => this.#reload().catch(() => this.#showState("Reconnecting…")), 250)
  }

  async #reload() {
    const regions = (this.getAttribute("regions") ?? "").split(" ").filter((id) => id !== "")
    if (regions.length === 0 && this.#source !== undefined) return
    // Not `location`: a form shown again with errors is at the form's address.
    const here = this.getAttribute("page") ?? location.pathname
    const answer = await fetch(here, { headers: { accept: "text/html" } })
    // Redirected: signed out, or the account is pending.
    if (answer.redirected && new URL(answer.url).pathname !== here) return location.replace(here)
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), "text/html")
    for (const id of regions) {
      const old = document.getElementById(id)
      const next = page.getElementById(id)
      if (old === null || next === null || served.get(old) === next.outerHTML) continue
      const focused = old.contains(document.activeElement) ? document.activeElement?.id : undefined
      served.set(next, next.outerHTML)
      old.replaceWith(next)
      if (focused) document.getElementById(focused)?.focus()
    }
  }
}

/** The markup of each region as the server sent it, before custom elements changed it. */
const served = new WeakMap()

/** Opens the dialog of a form that was shown again with errors. */
for (const dialog of document.querySelectorAll("dialog[open]")) {
  dialog.close()
  dialog.showModal()
}

/** For browsers that do not support `command`. */
if (!("command" in HTMLButtonElement.prototype))
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[commandfor]") : null
    const dialog = document.getElementById(button?.getAttribute("commandfor") ?? "")
    if (!(dialog instanceof HTMLDialogElement)) return
    if (button?.getAttribute("command") === "show-modal") dialog.showModal()
    else dialog.close()
  })

customElements.define("local-time", LocalTime)
customElements.define("copy-button", CopyButton)
customElements.define("live-activity", LiveActivity)

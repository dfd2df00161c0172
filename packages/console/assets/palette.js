/** The palette of places: ⌘K or Ctrl K. Data is set as text, never as markup. */

/** The palette: finds a place by its name and goes there. */
class GoTo extends HTMLElement {
  #places
  #chosen = 0

  connectedCallback() {
    const input = this.querySelector("input")
    // Emptied when it closes. The event of opening comes after the first letters of a person who types at once.
    this.parentElement.addEventListener("close", () => {
      input.value = ""
    })
    this.parentElement.addEventListener("toggle", ({ newState }) => newState === "open" && this.#opened(input))
    input.addEventListener("input", () => this.#list(input.value))
    input.addEventListener("keydown", (event) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (move !== undefined) this.#choose(this.#chosen + move)
      else if (event.key === "Enter") this.#go(this.querySelectorAll("[role=option]")[this.#chosen])
      else return
      event.preventDefault()
    })
    this.addEventListener("click", ({ target }) => this.#go(target.closest("[role=option]")))
  }

  async #opened(input) {
    input.focus()
    this.#list(input.value)
    const said = this.querySelector("p")
    try {
      if (this.#places === undefined) said.textContent = "Loading…"
      const answer = await fetch(this.getAttribute("src"), { signal: AbortSignal.timeout(10_000) })
      if (!answer.ok) throw answer
      this.#places = (await answer.json()).places
    } catch {
      said.textContent = "The places cannot be loaded at the moment."
      if (this.#places === undefined) return
    }
    this.#list(input.value)
  }

  #list(typed) {
    if (this.#places === undefined) return
    const words = typed.toLowerCase().split(/\s+/)
    const found = this.#places.filter(({ kind, label }) => {
      const text = `${label} ${kind}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    const rows = found.slice(0, 30).map(({ href, kind, label }, index) => {
      const row = document.createElement("div")
      row.role = "option"
      row.id = `place-${index}`
      row.dataset.href = href
      const what = document.createElement("span")
      what.className = "faint"
      what.textContent = kind
      row.append(label, what)
      return row
    })
    this.querySelector("[role=listbox]").replaceChildren(...rows)
    this.querySelector("p").textContent = rows.length === 0 ? "Nothing has this name." : ""
    this.#choose(0)
  }

  #choose(index) {
    const rows = [...this.querySelectorAll("[role=option]")]
    this.#chosen = Math.max(0, Math.min(index, rows.length - 1))
    for (const [at, row] of rows.entries()) row.ariaSelected = String(at === this.#chosen)
    const chosen = rows[this.#chosen]
    chosen?.scrollIntoView({ block: "nearest" })
    this.querySelector("input").setAttribute("aria-activedescendant", chosen?.id ?? "")
  }

  #go(row) {
    if (row?.dataset.href) location.assign(row.dataset.href)
  }
}

addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return
  const palette = document.getElementById("palette")
  if (palette === null) return
  event.preventDefault()
  if (palette.open) palette.close()
  else if (document.querySelector("dialog:modal") === null) palette.showModal()
})
for (const key of document.querySelectorAll(".find kbd"))
  if (!/Mac|iP/.test(navigator.platform)) key.textContent = "Ctrl K"

customElements.define("go-to", GoTo)

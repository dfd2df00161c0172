/**
 * Search over the documentation, and a button on each block of code that copies it. The pages are whole without it. Data is
 * set as text, never as markup.
 */

/** The root of the API: it may be mounted below any path. */
const root = new URL("../", import.meta.url)

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

let loading

/** The entries of the index, loaded when a reader searches for the first time, or after a failure. */
const entries = () => {
  loading ??= fetch(new URL("docs/search.json", root)).then((answer) => {
    if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`)
    return answer.json()
  })
  loading.catch(() => {
    loading = undefined
  })
  return loading
}

/** How well an entry fits: 0 is best, `undefined` is not at all. */
const rankOf = ({ detail, text, title }, words) => {
  const [name, more] = [title.toLowerCase(), `${title} ${detail}`.toLowerCase()]
  if (words.every((word) => name.includes(word))) return name.startsWith(words[0]) ? 0 : 1
  if (words.every((word) => more.includes(word))) return 2
  const all = `${more} ${text.toLowerCase()}`
  return words.every((word) => all.includes(word)) ? 3 : undefined
}

const best = (all, typed) => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return all
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, 20)
    .map(({ entry }) => entry)
}

const input = element("input", { type: "search", ariaLabel: "Search the documentation", placeholder: "Search  /" })
const said = element("p", { role: "status" })
const list = element("ul")
const panel = element("div", { hidden: true }, said, list)
const search = element("search", {}, input, panel)
document.querySelector(".top .brand").after(search)

const row = ({ detail, href, title }) =>
  element("li", {}, element("a", { href: new URL(href, root).href }, title, element("span", { textContent: detail })))

const show = async () => {
  const typed = input.value
  try {
    const found = best(await entries(), typed)
    // A later letter overtakes this one.
    if (typed !== input.value) return
    list.replaceChildren(...found.map(row))
    said.textContent = found.length === 0 ? "Nothing found." : `${found.length} found`
  } catch {
    said.textContent = "The search cannot be loaded at the moment."
  }
  panel.hidden = typed.trim() === ""
}

const close = () => {
  panel.hidden = true
}

input.addEventListener("input", show)
input.addEventListener("focus", show)
search.addEventListener("click", ({ target }) => target.closest("a") && close())
search.addEventListener("focusout", ({ relatedTarget }) => search.contains(relatedTarget) || close())
search.addEventListener("keydown", (event) => {
  const places = [input, ...list.querySelectorAll("a")]
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (move !== undefined) places[places.indexOf(document.activeElement) + move]?.focus()
  else if (event.key === "Enter" && event.target === input) places[1]?.click()
  else if (event.key === "Escape") {
    input.focus()
    close()
  } else return
  event.preventDefault()
})

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === input) return
  event.preventDefault()
  input.focus()
})

// Browsers have the clipboard on secure origins alone.
if (navigator.clipboard !== undefined)
  for (const block of document.querySelectorAll(".code")) {
    const button = element("button", { type: "button", textContent: "Copy" })
    button.addEventListener("click", async () => {
      const copied = navigator.clipboard.writeText(block.querySelector("pre").textContent)
      button.textContent = await copied.then(
        () => "Copied",
        () => "Not copied"
      )
      setTimeout(() => {
        button.textContent = "Copy"
      }, 2_000)
    })
    block.append(button)
  }

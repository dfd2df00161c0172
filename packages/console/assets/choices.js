/**
 * Forms that show a choice at once: a change of a select opens the form's address, and the elements that `data-shows`
 * names come from there. It is on the form, or on a select alone. A button does the same, without script by a new page.
 */

/** A later choice overtakes an earlier one whose page is on its way. */
let latestChoice = 0

const addressOf = (form) => {
  // Pitfall: `form.action`. A field of that name hides it.
  const address = new URL(form.getAttribute("action"), location.href)
  address.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""))
  return address
}

/** `answers`: the person asked a question, so the focus goes to its answer. */
const showChoice = async (form, ids, answers) => {
  const address = addressOf(form)
  const elements = ids.split(" ").map((id) => document.getElementById(id))
  for (const element of elements) element?.setAttribute("aria-busy", "true")
  const choice = ++latestChoice
  try {
    const { response: page, responseURL, status } = await fetchDocument(address)
    if (choice !== latestChoice) return
    if (status !== 200 || page === null || new URL(responseURL).pathname !== address.pathname)
      throw new Error(`${address}: ${status}`)
    for (const old of elements) {
      const next = page.getElementById(old?.id ?? "")
      if (old === null || next === null) continue
      replaceRegion(old, next)
      if (answers) next.querySelector("[autofocus]")?.focus()
    }
    history.replaceState(history.state, "", address)
  } catch {
    // The page itself says why it is none.
    if (choice === latestChoice) location.assign(address)
  }
}

addEventListener("change", ({ target }) => {
  const ids = target.closest("[data-shows]")?.dataset.shows
  if (ids === undefined) return
  const radio = target.matches("[type=radio]")
  // A page that is on its way would undo the choice of a radio button.
  if (target.matches("select") || (radio && target.closest("[aria-busy=true]"))) showChoice(target.form, ids, false)
  // A radio button shows its text itself; the address keeps the choice.
  else if (radio) history.replaceState(history.state, "", addressOf(target.form))
})

addEventListener("submit", (event) => {
  const { submitter, target } = event
  const ids = target.dataset.shows
  if (ids === undefined || submitter?.formMethod === "post") return
  event.preventDefault()
  showChoice(target, ids, true)
})

/**
 * Forms that show a choice at once: a change opens the form's address, and the elements that `data-shows` names come from
 * there. The form is among them, so links and buttons in it belong to the choice too. Without script, a button does it.
 */

/** A later choice overtakes an earlier one whose page is on its way. */
let latestChoice = 0

document.addEventListener("change", async ({ target }) => {
  const form = target instanceof Element ? target.closest("form[data-shows]") : null
  if (form === null) return
  // Pitfall: `form.action`. A field of that name hides it.
  const address = new URL(form.getAttribute("action"), location.href)
  address.search = new URLSearchParams(new FormData(form))
  const elements = form.dataset.shows.split(" ").map((id) => document.getElementById(id))
  for (const element of elements) element?.setAttribute("aria-busy", "true")
  const choice = ++latestChoice
  try {
    const { response: page, responseURL, status } = await fetchDocument(address)
    if (choice !== latestChoice) return
    if (status !== 200 || page === null || new URL(responseURL).pathname !== address.pathname)
      throw new Error(`${address}: ${status}`)
    for (const old of elements) {
      const next = page.getElementById(old?.id ?? "")
      if (old !== null && next !== null) replaceRegion(old, next)
    }
    history.replaceState(history.state, "", address)
  } catch {
    // The page itself says why it is none.
    if (choice === latestChoice) location.assign(address)
  }
})

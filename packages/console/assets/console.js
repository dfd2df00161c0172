/**
 * The script of every page, together with `focus.js`, `times.js`, `live.js`, `palette.js` and
 * `proposal.js`. Pages work without it.
 *
 * No function takes markup as text, so the content security policy forbids every such call (docs/design/console.md
 * W20).
 */

/** Copies the text of the element with the id `for`, or its `data-copy` where it shows less. */
class CopyButton extends HTMLElement {
  connectedCallback() {
    if (this.querySelector("button") !== null) return
    const button = document.createElement("button")
    button.type = "button"
    button.className = "quiet"
    button.textContent = "Copy"
    button.setAttribute("aria-label", this.getAttribute("label") ?? "Copy")
    const said = document.createElement("span")
    said.className = "hidden"
    said.setAttribute("role", "status")
    button.addEventListener("click", async () => {
      const source = document.getElementById(this.getAttribute("for") ?? "")
      const text = source?.dataset.copy ?? source?.textContent ?? ""
      try {
        await navigator.clipboard.writeText(text)
        button.textContent = "Copied"
        said.textContent = "Copied."
        setTimeout(() => {
          button.textContent = "Copy"
          said.textContent = ""
        }, 4000)
      } catch {
        // No permission, or no secure origin: select the text, so that the keyboard can copy it.
        if (source !== null) source.textContent = text
        if (source !== null) getSelection()?.selectAllChildren(source)
        said.textContent = "Selected. Copy it with the keyboard."
      }
    })
    this.append(button, said)
  }
}

customElements.define("copy-button", CopyButton)

/** The address does not keep the notice: a reload or a shared link does not show it again. */
const address = new URL(location.href)
if (address.searchParams.has("done")) {
  address.searchParams.delete("done")
  history.replaceState(history.state, "", address)
}

/** Opens the dialog of a form that was shown again with errors. */
for (const dialog of document.querySelectorAll("dialog[open]")) {
  dialog.close()
  dialog.showModal()
}
document.querySelector(".errors")?.focus()

/** For browsers that do not support `command`. */
if (!("command" in HTMLButtonElement.prototype))
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[commandfor]") : null
    const dialog = document.getElementById(button?.getAttribute("commandfor") ?? "")
    if (!(dialog instanceof HTMLDialogElement)) return
    if (button?.getAttribute("command") === "show-modal") dialog.showModal()
    else dialog.close()
  })

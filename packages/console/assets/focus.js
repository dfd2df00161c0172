/**
 * The keyboard: arrows in menus, popovers that close when the focus leaves them, and a focus that is never lost.
 * Without it Tab reaches everything too.
 */

const controls = "a[href], button:enabled, input:enabled:not([type=hidden]), select:enabled, textarea, summary"

/** The controls that can be seen, in the order of the page. */
const controlsIn = (element) => [...element.querySelectorAll(controls)].filter((control) => control.checkVisibility())

const openerOf = (popover) => document.querySelector(`[popovertarget="${popover.id}"]`)

/** ArrowDown or ArrowUp opens a menu from its button; inside, arrows, Home and End choose. */
addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, Home: 1, End: -1 }[event.key]
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
  const { target } = event
  const arrow = event.key.startsWith("Arrow")
  const inside = target.closest(".menu:popover-open")
  const menu = inside ?? (arrow && target.matches("[popovertarget]") ? target.popoverTargetElement : null)
  if (!menu?.matches(".menu")) return
  event.preventDefault()
  if (!menu.matches(":popover-open")) target.click()
  const items = controlsIn(menu)
  const first = step === 1 ? 0 : items.length - 1
  const next = arrow && inside !== null ? items.indexOf(target) + step : first
  items[(next + items.length) % items.length]?.focus()
})

/** A popover that the focus has left covers what has it now. */
addEventListener("focusout", ({ relatedTarget, target }) => {
  if (!(relatedTarget instanceof Element)) return
  for (let open = target.closest(":popover-open"); open; open = open.parentElement.closest(":popover-open"))
    if (!open.contains(relatedTarget) && relatedTarget !== openerOf(open)) open.hidePopover()
})

/** What had the focus last outside of dialogs. */
let before = null
addEventListener("focusin", ({ target }) => {
  if (target.closest("dialog") === null) before = target
})

/** A dialog that an entry of a menu opened returns the focus to the button of the menu, because the entry is hidden. */
addEventListener(
  "close",
  () => {
    // Until the next frame the focus may still be in the closed dialog.
    const now = document.activeElement
    if (now !== document.body && now?.checkVisibility()) return
    let place = before
    while (place !== null && !place.checkVisibility()) {
      const popover = place.closest("[popover]")
      place = popover === null ? null : openerOf(popover)
    }
    place?.focus()
  },
  true
)

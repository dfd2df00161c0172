/** The actions of a row or a page behind one button: a popover, which Escape and a click outside close. */
import { HiddenFields } from "./HiddenFields.tsx"
import { Icon } from "./Icon.tsx"

export type MenuItem = { readonly label: string; readonly tone?: "danger" | "plain" } & (
  | { readonly href: string }
  | { readonly form: { readonly action: string; readonly fields?: Readonly<Record<string, string>> } }
  /** The id of a dialog. */
  | { readonly opens: string }
)

export interface MenuProps {
  /**
   * The id of what the actions are done to, so that a region that is reloaded has the same.
   *
   * Pitfall: an id made from the label. Two objects can have one name, and the button of the second opens the menu of
   * the first.
   */
  readonly id: string
  /** The accessible name, different from that of each other menu of the page: "Actions of preview". */
  readonly label: string
  readonly items: ReadonlyArray<MenuItem>
}

const Item = ({ item }: { readonly item: MenuItem }) => {
  const danger = item.tone === "danger" ? "danger" : undefined
  if ("href" in item)
    return (
      <a href={item.href} class={danger}>
        {item.label}
      </a>
    )
  if ("opens" in item)
    return (
      <button type="button" class={danger} command="show-modal" commandfor={item.opens}>
        {item.label}
      </button>
    )
  return (
    <form method="post" action={item.form.action}>
      <HiddenFields fields={item.form.fields ?? {}} />
      <button type="submit" class={danger}>
        {item.label}
      </button>
    </form>
  )
}

export const Menu = ({ id, items, label }: MenuProps) => {
  const popover = `menu-${id}`
  return items.length === 0 ? null : (
    <>
      <button
        type="button"
        class="quiet icon-button"
        popovertarget={popover}
        aria-label={label}
        id={`${popover}-button`}
      >
        <Icon name="more" />
      </button>
      <div class="menu" popover="auto" id={popover}>
        <ul>
          {items.map((item) => (
            <li key={item.label}>
              <Item item={item} />
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

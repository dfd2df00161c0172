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
  /** The accessible name, different from that of each other menu of the page: "Actions of preview". */
  readonly label: string
  readonly items: ReadonlyArray<MenuItem>
}

/** An id that depends on the label alone, so that a region that is reloaded has the same (FNV-1a). */
const idOf = (label: string) => {
  let hash = 0x811c9dc5
  for (const character of label) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return `menu-${(hash >>> 0).toString(36)}`
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

export const Menu = ({ items, label }: MenuProps) => {
  const id = idOf(label)
  return items.length === 0 ? null : (
    <>
      <button type="button" class="quiet icon-button" popovertarget={id} aria-label={label} id={`${id}-button`}>
        <Icon name="more" />
      </button>
      <div class="menu" popover="auto" id={id}>
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

/** Views of one thing: links, so that each has an address. */
export interface TabsProps {
  readonly label: string
  readonly items: ReadonlyArray<{ readonly label: string; readonly href: string; readonly current: boolean }>
}

export const Tabs = ({ items, label }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {items.map(({ current, href, label }) => (
      <a key={href} href={href} aria-current={current ? "page" : undefined}>
        {label}
      </a>
    ))}
  </nav>
)

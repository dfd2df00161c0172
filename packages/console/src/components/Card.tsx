/** A section with a header row. It only groups: a card never lies in a card. */
import type { ComponentChildren } from "preact"

export interface CardProps {
  readonly id: string
  readonly title: string
  /** A link, a form or tabs at the end of the header row. */
  readonly more?: ComponentChildren
  readonly children: ComponentChildren
}

export const Card = ({ children, id, more, title }: CardProps) => (
  <section class="card" id={id} aria-labelledby={`${id}-title`}>
    <header>
      <h2 id={`${id}-title`}>{title}</h2>
      {more === undefined ? null : <div class="more">{more}</div>}
    </header>
    <div class="inside">{children}</div>
  </section>
)

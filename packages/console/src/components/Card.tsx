/** A frame around a part of a page. It only groups: a card never lies in a card. */
import type { ComponentChildren } from "preact"

export interface CardProps {
  readonly id: string
  /** Where the page has other parts to tell it from. Left out: the heading of the page, or the content, says what it is. */
  readonly title?: string
  /** A link, a form or tabs at the end of the title's row. */
  readonly more?: ComponentChildren
  readonly children: ComponentChildren
}

export const Card = ({ children, id, more, title }: CardProps) =>
  title === undefined ? (
    <div class="card" id={id}>
      <div class="inside">{children}</div>
    </div>
  ) : (
    <section class="card" id={id} aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {more === undefined ? null : <div class="more">{more}</div>}
      </header>
      <div class="inside">{children}</div>
    </section>
  )

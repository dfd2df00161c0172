/** A list without entries: what belongs here, and how the first one is made. */
import type { ComponentChildren } from "preact"

export const Empty = ({ children, title }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="title">{title}</p>
    {children}
  </div>
)

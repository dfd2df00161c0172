/** A property of a row, in one word. */
import type { ComponentChildren } from "preact"

export const Tag = ({ children }: { readonly children: ComponentChildren }) => <span class="tag">{children}</span>

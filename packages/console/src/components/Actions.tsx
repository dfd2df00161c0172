/** The buttons of a form or a page. The primary one is first in source, so that Enter submits it. */
import type { ComponentChildren } from "preact"

export const Actions = ({ children }: { readonly children: ComponentChildren }) => <div class="actions">{children}</div>

/** A command or an id in code style. */
export const Command = ({ children }: { readonly children: string }) => <code class="command">{children}</code>

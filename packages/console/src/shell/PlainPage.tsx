/** A page without an organization: a card in the middle, or a wide page as the landing page. */
import type { DateTime } from "effect"
import type { ComponentChildren } from "preact"
import { Icon } from "../components/Icon.tsx"
import { Now } from "../components/Times.tsx"
import { Brand } from "./Brand.tsx"
import { Document, type DocumentProps } from "./Document.tsx"

export interface PlainPageProps extends DocumentProps {
  /** Offers to sign out. */
  readonly signedIn?: boolean
  /** Without a card; the page brings its own layout. */
  readonly wide?: boolean
  /** At the end of the header. */
  readonly more?: ComponentChildren
  readonly footer?: ComponentChildren
  readonly now?: DateTime.Utc
}

export const PlainPage = (props: PlainPageProps) => {
  const { children, footer, more, now = null, signedIn = false, wide = false } = props
  return (
    <Now.Provider value={now}>
      <Document {...props}>
        <div class="plain">
          <header>
            <Brand href="/" />
            <span class="grow" />
            {more}
            {signedIn ? (
              <form method="post" action="/sign-out">
                <button class="quiet" type="submit">
                  <Icon name="leave" />
                  Sign out
                </button>
              </form>
            ) : null}
          </header>
          <main id="main" class={wide ? "wide" : undefined} tabIndex={-1}>
            {wide ? children : <div class="sheet">{children}</div>}
          </main>
          <footer>{footer}</footer>
        </div>
      </Document>
    </Now.Provider>
  )
}

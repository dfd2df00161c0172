/**
 * The document of every page.
 *
 * Pages are functions from data to markup. Preact escapes data, and no page sets inner HTML. Inline scripts and styles
 * are refused by the content security policy (docs/design/console.md W8), so there are none.
 */
import type { ComponentChildren } from "preact"
import { assetPaths } from "../web/Assets.ts"

export interface DocumentProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Reloads the page, or opens `to`, after this many seconds. */
  readonly refresh?: { readonly seconds: number; readonly to?: string }
}

/** Pitfall: changing the first lines of the head. `web/theme.ts` replaces them. */
export const Document = ({ children, refresh, title }: DocumentProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="color-scheme" content="light dark" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{`${title} · Narthex`}</title>
      <link rel="icon" type="image/svg+xml" href={assetPaths.icon} />
      <link rel="preload" as="font" type="font/woff2" href={assetPaths.font} crossorigin="anonymous" />
      <link rel="stylesheet" href={assetPaths.style} />
      <script type="module" src={assetPaths.script} />
      {refresh === undefined ? null : (
        <meta
          http-equiv="refresh"
          content={refresh.to === undefined ? `${refresh.seconds}` : `${refresh.seconds}; url=${refresh.to}`}
        />
      )}
    </head>
    <body>
      <a class="skip" href="#main">
        Skip to content
      </a>
      {children}
    </body>
  </html>
)

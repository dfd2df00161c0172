/**
 * Reloads elements of the page after an event (docs/design/console.md W13). The element says "Live" while the stream is
 * open. A page has one, because each holds a connection.
 */
import type { ComponentChildren } from "preact"

export interface LiveRegionProps {
  /** The path of the relayed stream. */
  readonly src: string
  /** The page's address. The browser may be at another, that of a form shown again with errors. */
  readonly page: string
  /** Ids of the elements to reload. */
  readonly regions: ReadonlyArray<string>
  readonly children?: ComponentChildren
}

export const LiveRegion = ({ children, page, regions, src }: LiveRegionProps) => (
  <live-region src={src} page={page} regions={regions.join(" ")}>
    {children ?? <LiveState />}
  </live-region>
)

/** Where the stream's state is shown. Inside of `LiveRegion`. */
export const LiveState = () => (
  <span class="live" role="status" data-live>
    <noscript>Reload the page to see changes.</noscript>
  </span>
)

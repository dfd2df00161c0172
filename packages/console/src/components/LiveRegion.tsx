/**
 * Reloads elements of the page after an event (docs/design/console.md W13). The element says "Live" while the stream is
 * open. A page has one, because each holds a connection.
 */

export interface LiveRegionProps {
  /** The path of the relayed stream. */
  readonly src: string
  /** The page's address. The browser may be at another, that of a form shown again with errors. */
  readonly page: string
  /** Ids of the elements to reload. */
  readonly regions: ReadonlyArray<string>
}

export const LiveRegion = ({ page, regions, src }: LiveRegionProps) => (
  <live-region src={src} page={page} regions={regions.join(" ")}>
    <span class="live" role="status" data-live>
      <noscript>Reload the page to see changes.</noscript>
    </span>
  </live-region>
)

/** The custom elements of `assets/console.js`, for the type checker. */
import type { HTMLAttributes } from "preact"

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      /** Shows its `<time>` in the browser's time zone; `relative`: updates its words. */
      "local-time": HTMLAttributes<HTMLElement> & { readonly relative?: boolean }
      /** Copies the text of the element with the id `for`. */
      "copy-button": HTMLAttributes<HTMLElement> & { readonly for: string; readonly label: string }
      /** Shows the proposal in the fragment of the address, else its first child. */
      "agent-proposal": HTMLAttributes<HTMLElement>
      /** Follows the event stream at `src`; after an event it reloads the elements `regions` (ids) from `page`. */
      "live-region": HTMLAttributes<HTMLElement> & {
        readonly src: string
        readonly page: string
        readonly regions: string
      }
      /** The palette of the places that `src` answers. */
      "go-to": HTMLAttributes<HTMLElement> & { readonly src: string }
    }
  }
}

/** The custom elements of `assets/console.js`, for the type checker. */
import type { HTMLAttributes } from "preact"

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "local-time": HTMLAttributes<HTMLElement>
      /** Copies the text of the element with the id `for`. */
      "copy-button": HTMLAttributes<HTMLElement> & { readonly for: string; readonly label: string }
      /** Follows the event stream at `src`; after an event it reloads the elements `regions` (ids) from `page`. */
      "live-activity": HTMLAttributes<HTMLElement> & {
        readonly src: string
        readonly page: string
        readonly regions?: string
      }
    }
  }
}

/** How large something is, in a unit for people. */
import { sizeText } from "@narthex/api"

/** `none` is shown for what has not been measured. */
export const Size = ({ bytes, none }: { readonly bytes: number | null; readonly none: string }) =>
  bytes === null ? (
    <span class="faint">{none}</span>
  ) : (
    <data value={bytes} title={`${bytes.toLocaleString("en")} bytes`}>
      {sizeText(bytes).replace(" ", "\u00a0")}
    </data>
  )

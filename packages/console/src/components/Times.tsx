/**
 * Times. Without script they are in UTC; with script, in the browser's time zone.
 *
 * The page says what time it is (`Now`), so that rendering reads no clock.
 */
import { DateTime } from "effect"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { relative } from "./relative.ts"

/** The time of the request. `null`: unknown, so all times are absolute. */
export const Now = createContext<DateTime.Utc | null>(null)

const absolute = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`

/** An absolute time. */
export const Time = ({ at }: { readonly at: DateTime.Utc }) => {
  const iso = DateTime.formatIso(at)
  return (
    <local-time>
      <time dateTime={iso}>{absolute(iso)}</time>
    </local-time>
  )
}

/** A time in relation to now, with the absolute one in `title` and `datetime`. */
export const Ago = ({ at }: { readonly at: DateTime.Utc }) => {
  const now = useContext(Now)
  if (now === null) return <Time at={at} />
  const iso = DateTime.formatIso(at)
  return (
    <local-time relative>
      <time dateTime={iso} title={absolute(iso)}>
        {relative(DateTime.toEpochMillis(at), DateTime.toEpochMillis(now))}
      </time>
    </local-time>
  )
}

/** When something ends. `none` is shown for what does not. */
export const Until = ({ at, none }: { readonly at: DateTime.Utc | null; readonly none: string }) =>
  at === null ? <span class="faint">{none}</span> : <Ago at={at} />

/**
 * Protection against cross-site request forgery (docs/design/console.md W7). Every POST is checked before its body is
 * read.
 *
 * The session cookie is `SameSite=Lax`, so a browser also sends it with a form of a sibling host; this check refuses
 * such a form. Browsers send `Sec-Fetch-Site`, older ones only `Origin`. A client that sends neither is no browser, so
 * it cannot be sending another person's cookie.
 */
export interface RequestSource {
  readonly sec_fetch_site: string | undefined
  readonly origin: string | undefined
}

export const isSameOrigin = ({ origin, sec_fetch_site }: RequestSource, ours: string): boolean => {
  if (sec_fetch_site !== undefined) return sec_fetch_site === "same-origin" || sec_fetch_site === "none"
  return origin === undefined || origin === ours
}

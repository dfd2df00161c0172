/**
 * May this request change anything? Every POST is held to it, before its body is read.
 *
 * The session cookie is SameSite=Lax, so a browser sends it with a form of a sibling host; this refuses such a form.
 * Browsers say where a request comes from: `Sec-Fetch-Site` when they have it, else `Origin`. With neither it is no
 * browser, and nobody's cookie was borrowed.
 */
export interface RequestSource {
  readonly sec_fetch_site: string | undefined
  readonly origin: string | undefined
}

export const isSameOrigin = ({ origin, sec_fetch_site }: RequestSource, ours: string): boolean => {
  if (sec_fetch_site !== undefined) return sec_fetch_site === "same-origin" || sec_fetch_site === "none"
  return origin === undefined || origin === ours
}

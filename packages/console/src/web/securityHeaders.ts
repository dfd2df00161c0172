/**
 * Headers that every answer of the console carries.
 *
 * No page has inline script or style, so the policy needs no nonce. `Referrer-Policy: no-referrer` would make browsers
 * send `Origin: null` with our own forms, which is why it is `same-origin`.
 */
const directives = (formAction: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** `formTarget`: one more origin that a form of the page may end up at. Browsers hold redirects after a POST to it too. */
export const contentSecurityPolicy = (formTarget?: string): string =>
  directives(formTarget === undefined ? "'self'" : `'self' ${formTarget}`)

export const securityHeaders = (secure: boolean): Readonly<Record<string, string>> => ({
  "content-security-policy": contentSecurityPolicy(),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  ...(secure ? { "strict-transport-security": "max-age=31536000" } : {})
})

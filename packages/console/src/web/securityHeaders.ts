/**
 * The security headers of every response (docs/design/console.md W8).
 *
 * No page has inline scripts or styles, so the policy needs no nonce. No script makes markup from text, so it allows no
 * Trusted Types policy at all (docs/design/console.md W20). `Referrer-Policy` is `same-origin` because with
 * `no-referrer` browsers would send `Origin: null` with the console's own forms.
 */
const directives = (formAction: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; ")

/** `formTarget`: one more origin for `form-action`, which browsers also apply to redirects after a POST. */
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

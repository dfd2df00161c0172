/**
 * The pages of a development provider, as text. No script, no inline style; every value is escaped.
 *
 * Browsers apply `form-action` to redirects after a POST too, so the policy of the form must name the origin that the
 * sign-in returns to.
 */
import type { ServerResponse } from "node:http"

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

export interface Page {
  readonly title: string
  readonly body: string
}

const html = ({ body, title }: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

const policy = (formAction: string) =>
  `default-src 'none'; style-src 'self'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`

const headers = (formAction: string) => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": policy(formAction),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
})

/** Sends a page. `returnsTo` is the origin that its form redirects to; without it the page may not submit a form. */
export const sendPage = (response: ServerResponse, status: number, page: Page, returnsTo?: string) => {
  response.writeHead(status, headers(returnsTo === undefined ? "'none'" : `'self' ${returnsTo}`)).end(html(page))
}

const warning = `<p class="warning" role="note"><strong>Development provider.</strong>
It signs anyone in as any address, without a password. Never expose it to a network.</p>`

export interface SignInForm {
  readonly provider: string
  readonly returnsTo: string
  readonly email: string
  readonly name: string
  readonly email_verified: boolean
  /** The mistake in the submitted form, as a sentence. */
  readonly mistake?: string
}

export const signInPage = (form: SignInForm): Page => ({
  title: `Sign in – ${form.provider}`,
  body: `<p class="provider">${escaped(form.provider)}</p>
<h1>Sign in</h1>
${warning}
<form method="post">
${form.mistake === undefined ? "" : `<p class="mistake" id="mistake" role="alert">${escaped(form.mistake)}</p>`}
<label for="email">Email address</label>
<input id="email" name="email" type="text" inputmode="email" autocomplete="email" autocapitalize="none" spellcheck="false"
 required maxlength="254" autofocus value="${escaped(form.email)}"${form.mistake === undefined ? "" : ' aria-invalid="true" aria-describedby="mistake"'}>
<label for="name">Name <span class="hint">(optional)</span></label>
<input id="name" name="name" type="text" autocomplete="name" maxlength="200" value="${escaped(form.name)}">
<label class="check"><input name="email_verified" type="checkbox" value="true"${form.email_verified ? " checked" : ""}>
The address is verified</label>
<div class="actions">
<button type="submit" name="action" value="sign-in">Sign in</button>
<button type="submit" name="action" value="cancel" class="quiet" formnovalidate>Cancel</button>
</div>
</form>
<p class="hint">You return to ${escaped(form.returnsTo)}</p>`
})

/** The page after an error, which `sentence` explains. */
export const errorPage = (sentence: string): Page => ({
  title: "Sign-in stopped",
  body: `<h1>Sign-in stopped</h1>
<p>${escaped(sentence)}</p>
<p>Go back to the application and start again.</p>`
})

/** The front page: what the provider is, and how a script gets a token. */
export const welcomePage = (provider: string, issuer: string): Page => ({
  title: provider,
  body: `<h1>${escaped(provider)}</h1>
${warning}
<p>An OpenID Connect issuer for development: <a href="/.well-known/openid-configuration">its configuration</a>.</p>
<p>A script gets an id token with:</p>
<pre><code>curl ${escaped(issuer)}/id-token --json '{"email":"ada@example.com"}'</code></pre>`
})

export const stylesheet = `:root {
  color-scheme: light dark;
  --ground: light-dark(#fbfbfc, #0e0f12);
  --surface: light-dark(#fff, #15171b);
  --raised: light-dark(#fff, #1b1e23);
  --line: light-dark(#e4e6ea, #292d34);
  --edge: light-dark(#8b919c, #6c737f);
  --text: light-dark(#16181d, #eceef2);
  --muted: light-dark(#555b66, #a5acb8);
  --accent: light-dark(#3b54d9, #93a4ff);
  --on-accent: light-dark(#fff, #0e0f12);
  --busy: light-dark(#8a5800, #e5b454);
  --busy-soft: light-dark(#fdf4e2, #2b2212);
  --bad: light-dark(#bb3128, #ff938a);
}
* { box-sizing: border-box; }
body { display: grid; min-height: 100vh; margin: 0; place-items: center; background: var(--ground); color: var(--text);
  font: 0.875rem/1.4286 Inter, system-ui, -apple-system, "Segoe UI", sans-serif; }
main { display: grid; gap: 1rem; width: min(29rem, calc(100vw - 2rem)); margin: 2rem 0 8vh; padding: 2rem; background: var(--surface);
  border: 1px solid var(--line); border-radius: 0.625rem; }
main > *, form > * { min-width: 0; margin: 0; }
h1 { font-size: 1.375rem; line-height: 1.75rem; letter-spacing: -0.018em; }
a { color: var(--accent); }
code, pre { font: 0.78125rem/1.25rem ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { padding: 0.75rem; background: var(--ground); border: 1px solid var(--line); border-radius: 0.375rem; white-space: pre-wrap; }
form { display: grid; gap: 0.25rem; }
label { margin-top: 0.75rem; font-weight: 600; }
input[type="text"] { width: 100%; min-height: 2.25rem; padding: 0.375rem 0.625rem; font: inherit; color: inherit; background: var(--raised);
  border: 1px solid var(--edge); border-radius: 0.375rem; }
input[aria-invalid] { border-color: var(--bad); }
input[type="checkbox"] { width: 1rem; height: 1rem; margin: 0; accent-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button { min-height: 2.25rem; padding: 0.375rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent);
  border: 1px solid var(--accent); border-radius: 0.375rem; cursor: pointer; }
button.quiet { color: var(--text); background: var(--raised); border-color: var(--line); }
.actions { display: flex; gap: 0.5rem; margin-top: 1rem; }
.check { display: flex; gap: 0.5rem; align-items: center; font-weight: 400; }
.provider, .hint { color: var(--muted); font-size: 0.8125rem; font-weight: 400; }
.hint { overflow-wrap: anywhere; }
.warning { padding: 0.5rem 1rem; background: var(--busy-soft); border: 1px solid color-mix(in srgb, var(--busy) 30%, transparent);
  border-radius: 0.375rem; }
.warning strong { display: block; color: var(--busy); }
.mistake { color: var(--bad); font-weight: 600; }
`

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
  --ink: light-dark(#1c1d21, #ececf0);
  --soft: light-dark(#5c5f6a, #a4a7b3);
  --line: light-dark(#8a8d99, #6d7180);
  --paper: light-dark(#ffffff, #1d1e23);
  --ground: light-dark(#f1f2f5, #121317);
  --accent: light-dark(#2b4fc7, #a9bbff);
  --on-accent: light-dark(#ffffff, #10162e);
  --alarm: light-dark(#7a3a00, #ffcf8a);
  --alarm-ground: light-dark(#fff1dc, #3a2707);
  --wrong: light-dark(#a8141f, #ff9fa3);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 10vh auto 2rem; padding: 2rem; background: var(--paper); border-radius: 0.75rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.2; }
a { color: var(--accent); }
pre { overflow-x: auto; padding: 0.75rem; background: var(--ground); border-radius: 0.4rem; font-size: 0.85rem; }
label { display: block; margin: 1rem 0 0.25rem; font-weight: 600; }
input[type="text"] { width: 100%; padding: 0.6rem; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 0.4rem; }
input[aria-invalid] { border-color: var(--wrong); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button { padding: 0.6rem 1.2rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent);
  border: 1px solid var(--accent); border-radius: 0.4rem; cursor: pointer; }
button.quiet { color: var(--accent); background: transparent; }
.actions { display: flex; gap: 0.75rem; margin: 1.5rem 0 1rem; }
.check { font-weight: 400; }
.provider { margin: 0; color: var(--soft); font-size: 0.9rem; }
.hint { color: var(--soft); font-size: 0.9rem; font-weight: 400; }
.warning { padding: 0.75rem 1rem; color: var(--alarm); background: var(--alarm-ground);
  border-left: 0.3rem solid currentColor; border-radius: 0.3rem; }
.mistake { margin: 1rem 0 0; color: var(--wrong); font-weight: 600; }
@media (max-width: 30rem) { main { margin: 0; min-height: 100vh; border-radius: 0; } }
`

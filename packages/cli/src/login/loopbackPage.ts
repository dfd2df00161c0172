/**
 * The last page of a login, in the look of the console. Everything is in the page: the listener answers one request.
 * The content security policy of the answer names the digest of the style and allows nothing else.
 */
import { createHash } from "node:crypto"

const style = `:root{color-scheme:light dark;--line:light-dark(#e4e6ea,#292d34);--muted:light-dark(#555b66,#a5acb8);
--good:light-dark(#0d7352,#4ccb9a);--bad:light-dark(#bb3128,#ff938a);--accent:light-dark(#3b54d9,#93a4ff)}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:light-dark(#fbfbfc,#0e0f12);
color:light-dark(#16181d,#eceef2);font:14px/20px Inter,system-ui,-apple-system,"Segoe UI",sans-serif}
main{box-sizing:border-box;width:min(26rem,calc(100vw - 2rem));margin-bottom:12vh;padding:2rem;border:1px solid var(--line);
border-radius:10px;background:light-dark(#fff,#15171b);display:grid;gap:12px}
p,h1{margin:0}h1{font-size:22px;line-height:28px;letter-spacing:-.018em}p{color:var(--muted)}
.brand{display:flex;gap:8px;align-items:center;color:inherit;font-weight:620}.brand svg{color:var(--accent)}
.good h1 svg{color:var(--good)}.bad h1 svg{color:var(--bad)}h1{display:flex;gap:10px;align-items:center}`

/** The digest of the style, for `style-src`. */
export const styleDigest = createHash("sha256").update(style).digest("base64")

const marks = { good: "M3 8.5l3.5 3.5L13 4.5", bad: "M4 4l8 8M12 4l-8 8" } as const

/** `title` and `text` are constants of this program: nothing is escaped. */
export const loopbackPage = (title: string, text: string, tone: keyof typeof marks): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Narthex</title>
<style>${style}</style>
</head>
<body>
<main class="${tone}">
<p class="brand"><svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="M4 21V11a8 8 0 0 1 16 0v10h-4V11a4 4 0 0 0-8 0v10z" fill="currentColor"/></svg>Narthex</p>
<h1><svg viewBox="0 0 16 16" width="20" height="20" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${marks[tone]}"/></svg>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`

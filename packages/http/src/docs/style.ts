/** The one style sheet of the documentation: the console's font, colours and scale, for long text. */
export const styleWith = (
  fontVersion: string
) => `@font-face { font-family: "Inter"; font-weight: 400 700; font-display: swap; src: url("inter.woff2?v=${fontVersion}") format("woff2") }
:root {
  color-scheme: light dark;
  --bg: light-dark(#fbfbfc, #0e0f12); --surface: light-dark(#ffffff, #15171b);
  --line: light-dark(#e7e8ec, #262a31); --line-soft: light-dark(#f0f1f4, #1f2228);
  --text: light-dark(#16181d, #eceef2); --muted: light-dark(#5b616c, #9aa1ad);
  --accent: light-dark(#3b54d9, #8ea0ff); --accent-soft: light-dark(#eef1ff, #1c2140);
  --get: light-dark(#12705a, #4ccb9a); --change: light-dark(#8a5700, #e5b454); --remove: light-dark(#b3312a, #ff8a80);
  --font: "Inter", system-ui, sans-serif;
  --mono: "JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace;
}
* { box-sizing: border-box; margin: 0 }
html { scroll-padding-top: 64px }
body { background: var(--bg); color: var(--text); font: 15px/24px var(--font); letter-spacing: -.004em; -webkit-font-smoothing: antialiased }
a { color: var(--accent); text-underline-offset: 2px }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
code, pre { font: 13px/20px var(--mono); letter-spacing: 0 }
:not(pre) > code { background: var(--line-soft); border-radius: 4px; padding: 1px 4px; overflow-wrap: anywhere }
pre { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; overflow-x: auto }
.muted, small { color: var(--muted) }
.skip { position: absolute; left: -9999px } .skip:focus { left: 16px; top: 12px; z-index: 2; background: var(--bg); padding: 4px 8px }
.top { position: sticky; top: 0; z-index: 1; height: 52px; display: flex; align-items: center; gap: 16px; padding: 0 max(24px, calc((100vw - 1280px) / 2 + 24px)); background: var(--bg); border-bottom: 1px solid var(--line) }
.brand { display: flex; align-items: center; gap: 8px; font-weight: 620; color: var(--text); text-decoration: none }
.console { margin-left: auto; border: 1px solid var(--line); border-radius: 6px; padding: 4px 12px; background: var(--surface); color: var(--text); text-decoration: none; font-size: 14px }
.top search { position: relative; margin-left: auto; flex: 0 1 320px } .top search + .console { margin-left: 0 }
search input { width: 100%; font: 14px/20px var(--font); color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: 6px; padding: 5px 12px }
search div { position: absolute; right: 0; top: calc(100% + 6px); width: min(560px, calc(100vw - 32px)); max-height: 70vh; overflow-y: auto; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 8px 24px #0003; padding: 6px }
search p { font-size: 13px; color: var(--muted); padding: 4px 10px } search ul { list-style: none; padding: 0 } search li + li { margin: 0 }
search li a { display: block; padding: 6px 10px; border-radius: 6px; color: var(--text); text-decoration: none; font-size: 14px; line-height: 20px; overflow-wrap: anywhere }
search li a:hover, search li a:focus { background: var(--line-soft) } search li span { display: block; font: 12px/18px var(--mono); color: var(--muted) }
.code { position: relative } .code button { position: absolute; top: 6px; right: 6px; font: 12px/18px var(--font); color: var(--muted); background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: 3px 8px; cursor: pointer }
.code button:hover { color: var(--text) }
.shell { display: grid; grid-template-columns: 248px minmax(0, 1fr); max-width: 1280px; margin: 0 auto }
.side { position: sticky; top: 52px; height: calc(100vh - 52px); overflow-y: auto; padding: 16px 12px 32px; border-right: 1px solid var(--line) }
nav h2 { font: 560 12px/16px var(--font); color: var(--muted); padding: 16px 12px 6px }
nav ul { list-style: none; padding: 0 }
nav li a { display: block; padding: 4px 12px; border-radius: 6px; color: var(--muted); text-decoration: none; font-size: 14px; line-height: 20px }
nav li a:hover { background: var(--line-soft); color: var(--text) }
nav li a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 560 }
.menu { display: none }
main { padding: 32px 48px 96px; min-width: 0 }
main > * { max-width: 800px }
main > * + * { margin-top: 16px }
h1 { font: 640 28px/36px var(--font); letter-spacing: -.02em }
h2 { font: 620 20px/28px var(--font); letter-spacing: -.012em } main > h2, main > section { margin-top: 48px }
h3 { font: 600 16px/24px var(--font) } main > h3 { margin-top: 32px }
h4 { font: 560 13px/20px var(--font); color: var(--muted); margin: 20px 0 8px }
ul, ol { padding-left: 24px } li + li { margin-top: 4px }
section > * + * { margin-top: 12px } .call > h4 { margin-top: 28px }
.lead { font-size: 17px; line-height: 28px; color: var(--muted) }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 14px } th, td { text-align: left; vertical-align: top; padding: 8px 16px 8px 0; border-bottom: 1px solid var(--line) } th { font-weight: 560; color: var(--muted) }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 12px; list-style: none; padding: 0; max-width: none }
.cards li { margin: 0 } .cards a { display: block; height: 100%; padding: 12px 16px; border: 1px solid var(--line); border-radius: 10px; background: var(--surface); color: var(--text); text-decoration: none }
.cards a:hover { border-color: var(--accent) } .cards strong { display: block; font-weight: 580 } .cards span { color: var(--muted); font-size: 14px; line-height: 20px; display: block }
.calls { list-style: none; padding: 0; border: 1px solid var(--line); border-radius: 10px; background: var(--surface) }
.calls li { margin: 0 } .calls li + li { border-top: 1px solid var(--line-soft) }
.calls a { display: grid; grid-template-columns: 64px minmax(0, 1fr); gap: 2px 12px; padding: 8px 16px; color: var(--text); text-decoration: none; font-size: 14px }
.calls a:hover { background: var(--line-soft) } .calls code { grid-column: 2; background: none; padding: 0; color: var(--muted) }
.method { font: 600 12px/24px var(--mono); color: var(--change) } .method.get { color: var(--get) } .method.delete { color: var(--remove) }
.call { border-top: 1px solid var(--line); padding-top: 32px; margin-top: 32px }
.call > header { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline } .call > header h3 { width: 100% } .call > header code { background: none; padding: 0; overflow-wrap: anywhere }
.call h3 a, .object h3 a { color: inherit; text-decoration: none } .call h3 a:hover, .object h3 a:hover { text-decoration: underline }
.call p + p { color: var(--muted); font-size: 14px; line-height: 22px }
.members { border-top: 1px solid var(--line-soft) }
.members > div { padding: 8px 0; border-bottom: 1px solid var(--line-soft) }
.members dt { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline } .members dt code { background: none; padding: 0; font-weight: 600 }
.members dd { color: var(--muted); font-size: 14px; line-height: 22px; padding: 0; margin: 0 } .members .members { margin: 6px 0 0 16px; border-top: 0 } .members .members > div:last-child { border-bottom: 0 }
.type { font: 12px/20px var(--mono); color: var(--muted) } .needed { font-size: 12px; color: var(--change) }
.status { font: 600 13px/20px var(--mono) } .refusals { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 6px } .refusals li { margin: 0 }
.refusals a { font: 12px/20px var(--mono); border: 1px solid var(--line); border-radius: 6px; padding: 1px 8px; color: var(--muted); text-decoration: none; display: block }
.refusals a:hover { border-color: var(--accent); color: var(--text) }
@media (max-width: 900px) {
  .shell { grid-template-columns: minmax(0, 1fr) } .side { display: none }
  .top { position: relative; flex-wrap: wrap; gap: 10px 16px; height: auto; padding: 10px 16px } .console { margin-left: auto } .top search { order: 1; flex: 1 0 100% } .top search + .console { margin-left: auto }
  .menu { display: block; border-bottom: 1px solid var(--line); padding: 0 16px } .menu summary { padding: 12px 0; cursor: pointer; font-weight: 560 } .menu nav { padding-bottom: 16px }
  .menu nav li a { padding: 10px 12px }
  main { padding: 24px 16px 64px } h1 { font-size: 24px; line-height: 32px }
}
@media print { .side, .menu, .top, .code button { display: none } }
`

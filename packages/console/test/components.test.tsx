/** The components: functions of their props. */
import { readFile } from "node:fs/promises"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { renderToString } from "preact-render-to-string"
import { Card } from "../src/components/Card.tsx"
import { Dialog } from "../src/components/Dialog.tsx"
import { ErrorSummary, summaryOf } from "../src/components/ErrorSummary.tsx"
import { Menu } from "../src/components/Menu.tsx"
import { Notice } from "../src/components/Notice.tsx"
import { Pager } from "../src/components/Pager.tsx"
import { relative } from "../src/components/relative.ts"
import { Table } from "../src/components/Table.tsx"
import { Ago, Now, Until } from "../src/components/Times.tsx"
import { Page } from "../src/shell/Page.tsx"
import { FirstSteps } from "../src/views/FirstSteps.tsx"
import { Landing } from "../src/views/Landing.tsx"
import { frameOf } from "./support/frame.ts"

const render = renderToString
const hostile = `"><script>alert('x')</script>`

describe("relative times", () => {
  const now = Date.parse("2026-11-23T12:00:00Z")
  const from = (seconds: number) => relative(now + seconds * 1000, now)

  it("a time is in the largest unit that fits, past and future", () => {
    assert.deepStrictEqual(
      [0, -44, -60, -300, -7200, -86_400, -3 * 86_400, -8 * 86_400, -90 * 86_400, -800 * 86_400].map(from),
      [
        "just now",
        "just now",
        "1 minute ago",
        "5 minutes ago",
        "2 hours ago",
        "yesterday",
        "3 days ago",
        "last week",
        "3 months ago",
        "2 years ago"
      ]
    )
    assert.deepStrictEqual([44, 3300, 6 * 3600, 86_400].map(from), [
      "just now",
      "in 55 minutes",
      "in 6 hours",
      "tomorrow"
    ])
  })

  it("a relative time has the absolute one in title and datetime; without a time of the request it is absolute", () => {
    const at = DateTime.makeUnsafe("2026-11-23T11:00:00.000Z")
    const page = render(
      <Now.Provider value={DateTime.makeUnsafe(now)}>
        <Ago at={at} />
      </Now.Provider>
    )
    assert.include(page, 'datetime="2026-11-23T11:00:00.000Z" title="2026-11-23 11:00 UTC">1 hour ago')
    assert.include(render(<Ago at={at} />), ">2026-11-23 11:00 UTC<")
    assert.include(render(<Until at={null} none="never" />), "never")
  })
})

describe("a table", () => {
  const html = render(
    <Table
      label="Rows"
      columns={[{ head: "Name" }, { head: "Size", align: "end", phone: "hidden" }, { head: "Made", quiet: true }]}
      rows={[{ key: "a", cells: [hostile, "1 GB", "now"] }]}
    />
  )

  it("each row has a header, and each cell the label that a card shows", () => {
    assert.match(html, /<th role="rowheader" scope="row" class="p-title">/)
    assert.match(html, /<td role="cell" class="p-hidden end" data-label="Size">1 GB/)
    assert.match(html, /<td role="cell" class="p-line">now/)
    assert.notInclude(html, "<script>")
  })

  it("a table without rows shows what is given for it, and no head", () => {
    assert.strictEqual(
      render(<Table label="Rows" columns={[{ head: "Name" }]} rows={[]} empty={<p>Nothing.</p>} />),
      '<div class="table"><p>Nothing.</p></div>'
    )
  })
})

describe("a dialog", () => {
  it("the text to be typed is compared as text, also where it has characters of a pattern", () => {
    const html = render(<Dialog id="d" title="Delete?" action="/x" confirm="Delete" typed="a.b*(c)" />)
    const pattern = / pattern="([^"]+)"/.exec(html)?.[1] ?? ""
    const accepts = new RegExp(`^(?:${pattern})$`, "v")
    assert.isTrue(accepts.test("a.b*(c)"))
    assert.isFalse(accepts.test("axbbc"))
    assert.match(html, /<input[^>]* name="typed"[^>]* required/)
  })

  it("the first button of a dialog sends the form, and the opener may be left out", () => {
    const html = render(<Dialog id="d" title="Delete?" action="/x" confirm="Delete" fields={{ id: hostile }} />)
    assert.match(html, /<button type="submit"[^>]*>Delete<\/button><button type="button" command="close"/)
    assert.notInclude(html, "show-modal")
    assert.notInclude(html, "<script>")
  })
})

describe("a card", () => {
  it("a card with a title is a region with its name, and a card without one has neither heading nor name", () => {
    const titled = render(
      <Card id="keys" title="Keys">
        text
      </Card>
    )
    assert.match(titled, /^<section [^>]*aria-labelledby="keys-title"><header><h2 id="keys-title">Keys</)
    assert.strictEqual(
      render(<Card id="keys">text</Card>),
      '<div class="card" id="keys"><div class="inside">text</div></div>'
    )
  })
})

describe("a menu", () => {
  it("the buttons of two menus with one label open different menus", () => {
    const html = (id: string) =>
      render(<Menu id={id} label="Actions of main" items={[{ label: "Open", href: "/x" }]} />)
    for (const id of ["ep-1", "ep-2"]) {
      assert.include(html(id), `popovertarget="menu-${id}"`)
      assert.include(html(id), `popover="auto" id="menu-${id}"`)
    }
    assert.strictEqual(render(<Menu id="ep-1" label="Nothing" items={[]} />), "")
  })
})

describe("errors", () => {
  it("a page with errors says so in its title and starts with a summary that has the focus", () => {
    const html = render(
      <Page
        title="New project"
        frame={frameOf()}
        errors={summaryOf({ name: "Too long.", form: hostile, region: undefined })}
      >
        <p />
      </Page>
    )
    assert.include(html, "<title>Error: New project · Engines · Narthex</title>")
    assert.match(html, /<main[^>]*><section class="errors"[^>]* role="alert"[^>]* autofocus/)
    assert.include(html, '<a href="#name">Too long.</a>')
    assert.include(html, "2 things to correct")
    assert.notInclude(html, "<script>alert")
    assert.strictEqual(render(<ErrorSummary errors={[]} />), "")
  })
})

describe("the pages of a list", () => {
  it("the first and only page has no links to others", () => {
    assert.strictEqual(render(<Pager next={null} />), "")
    assert.match(render(<Pager next="/x?cursor=a" />), /rel="next" href="\/x\?cursor=a">Older/)
  })
})

describe("the focus of a new page", () => {
  it("a page that answers an action focuses its notice, and a page without one nothing", () => {
    const page = (answer: { readonly notice?: string; readonly problem?: string }) =>
      render(
        <Page title="Settings" frame={frameOf()} {...answer}>
          text
        </Page>
      )
    assert.match(page({ notice: "The name was changed." }), /<div class="notice good"[^>]* tabindex="-1" autofocus/)
    assert.match(page({ problem: "The branch is busy." }), /<div class="notice bad"[^>]* tabindex="-1" autofocus/)
    assert.notInclude(page({}), "autofocus")
    assert.notInclude(render(<Notice>Nothing has changed.</Notice>), "autofocus")
  })

  it("the button that leads to a question that cannot be undone looks dangerous", () => {
    const question = (tone: "danger" | "plain") =>
      render(<Dialog id="end" opener="End" title="End it?" action="/end" confirm="End it" tone={tone} />)
    assert.match(question("danger"), /^<button type="button" class="danger"[^>]*>End</)
    assert.match(question("plain"), /^<button type="button" command[^>]*>End</)
  })

  it("a question that cannot be undone begins at Cancel, unless a name has to be typed", () => {
    const question = (typed?: string) =>
      render(
        <Dialog id="end" title="End it?" action="/end" confirm="End it" {...(typed === undefined ? {} : { typed })} />
      )
    assert.match(question(), /<button type="button" command="close"[^>]* autofocus/)
    assert.notInclude(question("shop"), "autofocus")
  })
})

describe("the state of the event stream", () => {
  it("a page that follows events has the state beside its heading", () => {
    const page = (live?: { readonly regions: ReadonlyArray<string> } | null) =>
      render(
        <Page
          title="Branches"
          frame={frameOf()}
          {...(live === undefined ? {} : { live: live && { src: "/api/events", page: "/x", ...live } })}
        >
          text
        </Page>
      )
    assert.match(page({ regions: ["tree"] }), /Branches<\/h1><span id="live"><live-region [^>]*regions="tree">/)
    assert.match(page(null), /Branches<\/h1><span id="live"><\/span>/)
    assert.notInclude(page(), "live")
  })
})

describe("the first steps", () => {
  it("only a person who may invite is offered to invite members", () => {
    const steps = (mayInvite: boolean) => render(<FirstSteps home="/orgs/org-1" mayCreate mayInvite={mayInvite} />)
    assert.include(steps(true), "Invite members")
    assert.notMatch(steps(false), /invite|team/i)
    assert.include(steps(false), "Make an API key")
  })

  it("the landing page and the first steps say how the command line is installed before its first command", async () => {
    const { name } = JSON.parse(await readFile(new URL("../../cli/package.json", import.meta.url), "utf8"))
    for (const page of [<Landing />, <FirstSteps home="/orgs/org-1" mayCreate mayInvite />]) {
      const text = render(page).replaceAll(/<[^>]+>/g, "")
      assert.include(text, `npm install -g ${name}`)
      assert.isBelow(text.indexOf(`npm install -g ${name}`), text.indexOf("narthex login"))
    }
  })
})

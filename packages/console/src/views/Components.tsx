/** The page of all components in all their states (docs/design/console.md W45). Served in development only. */
import { DateTime } from "effect"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { Checkbox } from "../components/Checkbox.tsx"
import { Choice } from "../components/Choice.tsx"
import { Command } from "../components/Command.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Dialog } from "../components/Dialog.tsx"
import { Empty } from "../components/Empty.tsx"
import { Facts } from "../components/Facts.tsx"
import { Field } from "../components/Field.tsx"
import { Icon, iconNames } from "../components/Icon.tsx"
import { Menu } from "../components/Menu.tsx"
import { Notice } from "../components/Notice.tsx"
import { Pager } from "../components/Pager.tsx"
import { Size } from "../components/Size.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Tag } from "../components/Tag.tsx"
import { Ago, Time, Until } from "../components/Times.tsx"
import { Variants } from "../components/Variants.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"

const tones = ["good", "busy", "bad", "idle"] as const
const here = "/dev/components"
const project = { id: "prj-example", name: "checkout", section: "overview" } as const

const Buttons = () => (
  <Card id="buttons" title="Buttons">
    <Actions>
      <button type="button" class="primary">
        Primary
      </button>
      <button type="button">Plain</button>
      <a class="button" href={here}>
        All components
      </a>
      <button type="button" class="quiet">
        <Icon name="plus" />
        Quiet
      </button>
      <button type="button" disabled>
        Disabled
      </button>
      <Dialog id="example-plain" opener="Ask" title="Start the endpoint?" action={here} confirm="Start" tone="plain">
        <p>It wakes on the next connection too.</p>
      </Dialog>
      <Dialog
        id="example-typed"
        opener="Delete"
        title="Delete the project?"
        action={here}
        confirm="Delete the project"
        typed="checkout"
      >
        <p>Its branches, endpoints and data are deleted. This cannot be undone.</p>
      </Dialog>
    </Actions>
  </Card>
)

const States = () => (
  <Card id="states" title="States, tags, times" more={<a href={here}>All states</a>}>
    <p class="row">
      {tones.map((tone) => (
        <State key={tone} tone={tone}>
          {tone}
        </State>
      ))}
      <Tag>default</Tag>
      <Tag>protected</Tag>
    </p>
    <Facts
      items={[
        ["Ago", <Ago key="a" at={DateTime.makeUnsafe("2026-01-02T03:04:05Z")} />],
        ["Time", <Time key="t" at={DateTime.makeUnsafe("2026-01-02T03:04:05Z")} />],
        ["Until", <Until key="u" at={null} none="never" />],
        ["Command", <Command key="c">narthex login</Command>],
        ["Copy", <CopyField key="f" id="copy-id" label="Copy the ID" text="prj-01m80m4ce8e4" />],
        ["Masked", <CopyField key="m" id="copy-masked" label="Copy the password" text="correct horse" masked />]
      ]}
    />
    <CopyField
      id="copy-wide"
      label="Copy the connection string"
      text="postgresql://ada_rw:••••••••@ep-01m80m4ce937.eu-central.example.com/postgres?sslmode=require"
      wide
    />
    <Variants
      name="variant"
      label="Program"
      value="psql"
      copied
      items={[
        {
          id: "psql",
          label: "psql",
          text: "psql 'postgresql://ada_rw@ep-01m80m4ce937.eu-central.example.com/postgres'"
        },
        { id: "env", label: ".env", text: 'DATABASE_URL="postgresql://ada_rw@…"' }
      ]}
    />
  </Card>
)

const Tables = () => (
  <Card id="tables" title="Tables">
    <Table
      label="Branches"
      columns={[
        { head: "Name" },
        { head: "State", phone: "aside" },
        { head: "Created" },
        { head: "Expires" },
        { head: "Size" },
        { head: "Actions", quiet: true, align: "end", phone: "aside" }
      ]}
      rows={["main", "preview/pr-412", "a-branch-with-a-name-that-is-much-longer-than-its-column-could-ever-be"].map(
        (name, index) => ({
          key: name,
          cells: [
            <>
              <a href={here}>{name}</a> {index === 0 ? <Tag>default</Tag> : null}
            </>,
            <State key="s" tone={tones[index] ?? "idle"}>
              {["Running", "Starting", "Failed"][index]}
            </State>,
            <Ago key="c" at={DateTime.makeUnsafe("2026-01-02T03:04:05Z")} />,
            <Until key="e" at={null} none="never" />,
            <Size key="z" bytes={index === 1 ? null : 1_234_567_890} none="unknown" />,
            <Menu
              key="m"
              id={`example-${index}`}
              label={`Actions of ${name}`}
              items={[
                { label: "Open", href: here },
                { label: "Suspend", form: { action: here } },
                { label: "Delete", opens: "example-typed", tone: "danger" }
              ]}
            />
          ]
        })
      )}
    />
    <Pager next={`${here}?cursor=next`} previous={here} />
  </Card>
)

const Forms = () => (
  <Card id="forms" title="Forms">
    <form method="post" action={here} class="form">
      <Field name="name" label="Name" value="checkout" hint="1 to 128 characters." required />
      <Field name="cidr" label="Network" value="10.0.0.1/8" error="Host bits are set. Did you mean 10.0.0.0/8?" />
      <Choice
        name="region"
        label="Region"
        value="eu"
        choices={[
          { value: "eu", label: "Europe" },
          { value: "us", label: "America" }
        ]}
      />
      <Checkbox name="protected" label="Protected" hint="It cannot be deleted or reset." checked />
      <Actions>
        <button type="submit" class="primary">
          Save
        </button>
        <a class="button" href={here}>
          Cancel
        </a>
      </Actions>
    </form>
  </Card>
)

export const ComponentsPage = ({ frame }: { readonly frame: Frame }) => (
  <Page
    title="Components"
    frame={frame}
    section="projects"
    project={project}
    lead={
      <>
        <State tone="good">Running</State>
        <span>eu-central</span>
        <span>Each component of the console, in each state.</span>
      </>
    }
    actions={
      <>
        <button type="button" class="primary">
          Primary
        </button>
        <button type="button">Other</button>
      </>
    }
    notice="The notice of the last action."
    problem="Why the last action did nothing."
    errors={[
      { field: "cidr", sentence: "Host bits are set. Did you mean 10.0.0.0/8?" },
      { field: "", sentence: "Another form was sent at the same time." }
    ]}
  >
    <Notice tone="busy">The last rule expires tomorrow.</Notice>
    <Notice tone="idle">Nothing has changed.</Notice>
    <Buttons />
    <States />
    <Tables />
    <div class="columns">
      <Forms />
      <Card id="empty" title="Empty">
        <Empty title="No branches">
          <p>A branch is a copy of a database.</p>
          <a class="button" href={here}>
            New branch
          </a>
        </Empty>
      </Card>
    </div>
    <Card id="icons" title="Icons">
      <ul class="row">
        {iconNames.map((name) => (
          <li key={name} class="row">
            <Icon name={name} />
            <span class="note">{name}</span>
          </li>
        ))}
      </ul>
    </Card>
  </Page>
)

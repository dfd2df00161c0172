/** The account: who the person is, how they sign in, and the sessions that are signed in. */
import type { SessionRecord } from "@narthex/api"
import { Card } from "../components/Card.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Dialog } from "../components/Dialog.tsx"
import { Facts } from "../components/Facts.tsx"
import { Table } from "../components/Table.tsx"
import { Tag } from "../components/Tag.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { deviceWords } from "./device.ts"

type SessionShown = typeof SessionRecord.Type

export interface AccountPageProps {
  readonly frame: Frame
  /** Newest first. */
  readonly sessions: ReadonlyArray<SessionShown>
  /** The names of the identity providers, by id. */
  readonly providers: ReadonlyMap<string, string>
  readonly notice?: string | undefined
}

export const AccountPage = ({ frame, notice, providers, sessions }: AccountPageProps) => {
  const { email, id, name } = frame.user
  const others = sessions.filter(({ current }) => !current).length
  const methods = [...new Set(sessions.map(({ provider }) => providers.get(provider) ?? provider))]
  return (
    <Page title="Account" frame={frame} section="account" notice={notice}>
      <Card id="you">
        <Facts
          items={[
            ["Name", name ?? <span class="faint">not known</span>],
            ["Email address", email ?? <span class="faint">not known</span>],
            ["Signed in with", methods.join(", ")]
          ]}
        />
        <CopyField id="user-id" label="Copy your id" text={id} title="ID" wide />
        <p class="soft">Name and address come from the identity provider, at each sign-in.</p>
      </Card>
      <Card
        id="sessions"
        title="Sessions"
        more={
          others === 0 ? undefined : (
            <Dialog
              id="end-others"
              opener="End all others"
              title="End all other sessions?"
              confirm={others === 1 ? "End the other session" : `End ${others} sessions`}
              action="/account/sessions/end-others"
            >
              <p>Those browsers are signed out at once. This session and all API keys stay.</p>
            </Dialog>
          )
        }
      >
        <Table
          label="Sessions that are signed in"
          columns={[
            { head: "Device" },
            { head: "Address" },
            { head: "Signed in" },
            { head: "Last active" },
            { head: "Actions", quiet: true, align: "end", phone: "aside" }
          ]}
          rows={sessions.map((session) => ({
            key: session.id,
            cells: [
              <>
                {deviceWords(session.user_agent)} {session.current ? <Tag>this session</Tag> : null}
              </>,
              session.address ?? <span class="faint">unknown</span>,
              <>
                <Ago at={session.signed_in_at} />
                <span class="soft"> · {providers.get(session.provider) ?? session.provider}</span>
              </>,
              <Ago at={session.last_refreshed_at} />,
              <End session={session} />
            ]
          }))}
        />
      </Card>
    </Page>
  )
}

/** Signing out ends the current session and clears the cookie. */
const End = ({ session }: { readonly session: SessionShown }) =>
  session.current ? (
    <form method="post" action="/sign-out">
      <button type="submit">Sign out</button>
    </form>
  ) : (
    <form method="post" action={`/account/sessions/${session.id}/end`}>
      <button type="submit" aria-label={`End the session of ${deviceWords(session.user_agent)}`}>
        End
      </button>
    </form>
  )

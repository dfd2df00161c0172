/** The people of an organization: its members, and the invitations that are open, with the form for a new one. */
import type { InvitationRecord, Member } from "@narthex/api"
import { Actions } from "../components/Actions.tsx"
import { Card } from "../components/Card.tsx"
import { Dialog } from "../components/Dialog.tsx"
import type { FieldError } from "../components/ErrorSummary.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import { Menu } from "../components/Menu.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Tag } from "../components/Tag.tsx"
import { Ago, Until } from "../components/Times.tsx"
import type { Tone } from "../components/tone.ts"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { roleChoices, rolesToGrant } from "./roles.ts"

export interface MembersPageProps {
  readonly frame: Frame
  readonly members: ReadonlyArray<Member>
  readonly next_cursor: string | null
  /** `null`: the person may not see invitations. */
  readonly invitations: ReadonlyArray<typeof InvitationRecord.Type> | null
  readonly next_invitations: string | null
  /** The links of pending invitations, by their ids. */
  readonly links: ReadonlyMap<string, string>
  readonly draft: { readonly email: string; readonly role: string }
  readonly form_token: string
  readonly errors: ReadonlyArray<FieldError>
  readonly notice?: string | undefined
  readonly problem?: string | undefined
}

export const errorOf = (errors: ReadonlyArray<FieldError>, field: string): string | undefined =>
  errors.find((error) => error.field === field)?.sentence

const olderOf = (here: string, name: string, cursor: string | null) =>
  cursor === null ? null : `${here}?${name}=${encodeURIComponent(cursor)}`

export const MembersPage = (props: MembersPageProps) => {
  const { errors, frame, invitations, members, next_cursor, notice, problem } = props
  const here = `/orgs/${frame.organization.id}/members`
  return (
    <Page title="Members" frame={frame} section="members" notice={notice} problem={problem} errors={errors}>
      <Card id="members">
        <Table
          label={`Members of ${frame.organization.name}`}
          columns={[
            { head: "Name" },
            { head: "Email address", phone: "line" },
            { head: "Role" },
            { head: "Member since" },
            { head: "Actions", quiet: true, align: "end", phone: "aside" }
          ]}
          rows={members.map((member) => ({
            key: member.user_id,
            cells: [
              <>
                <a href={`${here}/${member.user_id}`}>{nameOf(member)}</a>{" "}
                {member.user_id === frame.user.id ? <Tag>you</Tag> : null}
              </>,
              member.email ?? <span class="faint">unknown</span>,
              member.role,
              <Ago at={member.joined_at} />,
              <MemberMenu member={member} frame={frame} here={here} />
            ]
          }))}
        />
        <Pager next={olderOf(here, "cursor", next_cursor)} />
      </Card>
      {invitations === null ? null : <Invitations {...props} invitations={invitations} here={here} />}
      {invitations === null ? null : <Invite {...props} />}
    </Page>
  )
}

export const nameOf = ({ email, name, user_id }: Pick<Member, "email" | "name" | "user_id">): string =>
  name ?? email ?? user_id

interface MemberMenuProps {
  readonly member: Member
  readonly frame: Frame
  readonly here: string
}

/** The parts of the member's page that the person may use. */
const MemberMenu = ({ frame, here, member }: MemberMenuProps) => {
  const page = `${here}/${member.user_id}`
  const isSelf = member.user_id === frame.user.id
  const grants = rolesToGrant(frame.permissions, member.role).length > 0
  return (
    <Menu
      id={member.user_id}
      label={`Actions of ${nameOf(member)}`}
      items={[
        ...(grants ? [{ label: "Change role", href: `${page}#role-card` }] : []),
        ...(grants || isSelf
          ? [{ label: isSelf ? "Leave" : "Remove", href: `${page}#removal`, tone: "danger" } as const]
          : [])
      ]}
    />
  )
}

const Invite = ({ draft, errors, form_token, frame }: MembersPageProps) => (
  <Card id="invite" title="Invite a person">
    <form method="post" action={`/orgs/${frame.organization.id}/invitations`} class="stack slim">
      <HiddenFields fields={{ form_token }} />
      <Field
        name="email"
        label="Email address"
        inputMode="email"
        required
        maxLength={320}
        value={draft.email}
        error={errorOf(errors, "email")}
      />
      <Field
        name="role"
        label="Role"
        choices={roleChoices(rolesToGrant(frame.permissions, null))}
        value={draft.role}
        error={errorOf(errors, "role")}
      />
      <Actions>
        <button type="submit" class="primary">
          Invite
        </button>
      </Actions>
    </form>
    <p class="soft">
      No mail is sent: give the person the link of the invitation. A sign-in with the invited address can accept it for
      seven days.
    </p>
  </Card>
)

interface LinkProps {
  readonly id: string
  readonly email: string
  readonly link: string | undefined
}

/** Without script the address is copied from the browser's menu of the link. */
const Link = ({ email, id, link }: LinkProps) =>
  link === undefined ? null : (
    <span class="copy">
      <a href={link} id={`link-${id}`} data-copy={link}>
        Open<span class="hidden"> the link for {email}</span>
      </a>
      <copy-button for={`link-${id}`} label={`Copy the link for ${email}`} />
    </span>
  )

const states: Readonly<Record<string, { readonly tone: Tone; readonly word: string }>> = {
  pending: { tone: "busy", word: "Open" },
  accepted: { tone: "good", word: "Accepted" },
  revoked: { tone: "idle", word: "Revoked" },
  expired: { tone: "bad", word: "Expired" }
}

type InvitationsProps = MembersPageProps & {
  readonly invitations: ReadonlyArray<typeof InvitationRecord.Type>
  readonly here: string
}

/** Invitations that were accepted or revoked are history, and are left out. */
const Invitations = ({ frame, here, invitations, links, next_invitations }: InvitationsProps) => {
  const open = invitations.filter(({ status }) => status !== "accepted" && status !== "revoked")
  const action = (id: string, verb: "resend" | "revoke") => `/orgs/${frame.organization.id}/invitations/${id}/${verb}`
  return open.length === 0 && next_invitations === null ? null : (
    <Card id="invitations" title="Invitations">
      <Table
        label="Open invitations"
        columns={[
          { head: "Email address" },
          { head: "State" },
          { head: "Role" },
          { head: "Invited by" },
          { head: "Expires" },
          { head: "Link" },
          { head: "Actions", quiet: true, align: "end", phone: "aside" }
        ]}
        rows={open.map(({ email, expires_at, id, invited_by, role, status }) => {
          const { tone, word } = states[status] ?? { tone: "idle", word: status }
          return {
            key: id,
            cells: [
              email,
              <State tone={tone}>{word}</State>,
              role,
              invited_by.email ?? "",
              status === "pending" ? <Until at={expires_at} none="never" /> : <Ago at={expires_at} />,
              <Link id={id} email={email} link={links.get(id)} />,
              <>
                <Menu
                  id={id}
                  label={`Actions for ${email}`}
                  items={[
                    { label: "Renew for seven days", form: { action: action(id, "resend") } },
                    { label: "Revoke", opens: `revoke-${id}`, tone: "danger" }
                  ]}
                />
                <Dialog
                  id={`revoke-${id}`}
                  title={`Revoke the invitation of ${email}?`}
                  confirm="Revoke the invitation"
                  action={action(id, "revoke")}
                >
                  <p>The person can no longer accept it. You can invite the address again.</p>
                </Dialog>
              </>
            ]
          }
        })}
      />
      <Pager next={olderOf(here, "invitations", next_invitations)} />
    </Card>
  )
}

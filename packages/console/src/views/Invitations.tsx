/** The organizations that invite the person, each with accept and decline. */
import { Empty } from "../components/Empty.tsx"
import { Notice } from "../components/Notice.tsx"
import { Pager } from "../components/Pager.tsx"
import { Time } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { type InvitationShown, personLabel } from "./records.ts"

interface AnswerProps {
  readonly invitation: InvitationShown
  readonly answer: "accept" | "decline"
  /** Makes a form that is sent twice take effect once. */
  readonly form_token: string
}

const Answer = ({ answer, form_token, invitation: { id, organization } }: AnswerProps) => (
  <form method="post" action={`/invitations/${id}/${answer}`}>
    <input type="hidden" name="form_token" value={form_token} />
    <button
      type="submit"
      class={answer === "accept" ? "primary" : "quiet"}
      aria-label={`${answer === "accept" ? "Accept" : "Decline"} the invitation to ${organization.name}`}
    >
      {answer === "accept" ? "Accept" : "Decline"}
    </button>
  </form>
)

/** A new token for each form. */
export type FormToken = () => string

export interface InvitationCardsProps {
  readonly invitations: ReadonlyArray<InvitationShown>
  readonly form_token: FormToken
}

export const InvitationCards = ({ form_token, invitations }: InvitationCardsProps) => (
  <ul class="stack">
    {invitations.map((invitation) => (
      <li key={invitation.id} class="sheet">
        <h2>{invitation.organization.name}</h2>
        <p>
          {personLabel(invitation.invited_by)} invites you as {invitation.role}.
        </p>
        <p class="soft">
          Open until <Time at={invitation.expires_at} />
        </p>
        <div class="actions">
          <Answer invitation={invitation} answer="accept" form_token={form_token()} />
          <Answer invitation={invitation} answer="decline" form_token={form_token()} />
        </div>
      </li>
    ))}
  </ul>
)

/** The content of an invitation's link. */
export interface InvitedShown {
  /** The address that can accept, in lower case. */
  readonly email: string
  /** The name of the organization. */
  readonly organization: string
  /** The address of the inviter; `null`: it is not known. */
  readonly inviter: string | null
}

export interface InvitationsPageProps extends InvitationCardsProps {
  readonly frame: Frame
  /** The cursor of the next page, if there is one. */
  readonly next_cursor: string | null
  readonly notice?: string | undefined
  /** The organization that the person has just joined. */
  readonly joined?: Frame["organization"] | undefined
  /** The invitation whose link led here; `null`: none. */
  readonly invited: InvitedShown | null
}

const isFor = ({ email }: InvitedShown, person: Frame["user"]) => person.email?.toLowerCase() === email

export const InvitationsPage = (props: InvitationsPageProps) => {
  const { form_token, frame, invitations, invited, joined, next_cursor, notice } = props
  return (
    <Page title="Invitations" frame={frame} section="invitations" notice={notice} narrow>
      {invited === null || isFor(invited, frame.user) ? null : (
        <Notice tone="busy">
          The invitation to {invited.organization} is for {invited.email}, and you are signed in as{" "}
          {frame.user.email ?? "a person without an address"}. Sign out, then open the link again.
        </Notice>
      )}
      {joined === undefined ? null : (
        <div class="notice good">
          <p role="status">You are a member of {joined.name}.</p>
          <form method="post" action="/api/auth/switch-org" class="actions">
            <input type="hidden" name="org_id" value={joined.id} />
            <button type="submit">Switch to {joined.name}</button>
          </form>
        </div>
      )}
      {invitations.length === 0 ? (
        <Empty title={frame.inviter === null ? "No invitations" : "No other invitations"}>
          <p>
            {frame.inviter === null
              ? "No organization invites you at the moment."
              : `You are a member of ${frame.organization.name} already.`}
          </p>
        </Empty>
      ) : (
        <InvitationCards invitations={invitations} form_token={form_token} />
      )}
      <Pager next={next_cursor === null ? null : `/invitations?cursor=${encodeURIComponent(next_cursor)}`} />
    </Page>
  )
}

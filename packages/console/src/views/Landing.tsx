/** Pages without an organization: landing, sign-in, pending accounts, and messages. */
import type { DateTime } from "effect"
import type { ComponentChildren } from "preact"
import { Command } from "../components/Command.tsx"
import { CopyField } from "../components/CopyField.tsx"
import { Icon } from "../components/Icon.tsx"
import { Brand } from "../shell/Brand.tsx"
import { PlainPage } from "../shell/PlainPage.tsx"
import { installCommand } from "./commandLine.ts"
import { InvitationCards, type InvitationCardsProps, type InvitedShown } from "./Invitations.tsx"

const offers = [
  ["branch", "Branches", "Copy a database in seconds. Try a migration on the branch, then delete it."],
  ["moon", "Sleeps when idle", "An endpoint suspends without connections, and wakes on the next one."],
  ["shield", "An allowlist that is checked", "Every connection is checked, and a refusal says why."],
  ["activity", "Live", "Every operation is an event. Watch an organization change, here or in the terminal."]
] as const

/** For visitors: a person who is signed in is led to the projects. */
export const Landing = () => (
  <PlainPage
    title="Postgres, hosted"
    wide
    more={
      <>
        <a class="button quiet" href="/docs">
          Docs
        </a>
        <a class="button" href="/sign-in">
          Sign in
        </a>
      </>
    }
    footer={
      <>
        <Brand href="/" />
        <span class="grow" />
        <span>The console and the command line use the same API.</span>
      </>
    }
  >
    <div class="hero">
      <div>
        <h1>Postgres that sleeps when you do</h1>
        <p class="lead">
          Projects with branches, endpoints that suspend when idle and wake on the next connection, and an IP allowlist
          that is checked on every connection.
        </p>
        <div class="actions">
          <a class="button primary" href="/sign-in">
            Sign in to start
          </a>
          <CopyField id="install-command" label="Copy the command" text={installCommand} wide />
        </div>
      </div>
      <figure class="terminal">
        <figcaption>From your terminal</figcaption>
        <pre>
          <b>$ </b>
          {installCommand}
          {"\n"}
          <b>$ </b>narthex login{"\n"}
          <b>$ </b>narthex project create shop{"\n"}
          <b>$ </b>narthex psql shop --branch main{"\n"}
          {"postgres=> select 'hello';\n"}
        </pre>
      </figure>
    </div>
    <ul class="offers">
      {offers.map(([icon, title, text]) => (
        <li key={title}>
          <Icon name={icon} size={20} />
          <h2>{title}</h2>
          <p>{text}</p>
        </li>
      ))}
    </ul>
  </PlainPage>
)

export interface SignInPageProps {
  readonly providers: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly hrefOf: (providerId: string) => string
  /** The sign-in was started by `narthex login`. */
  readonly forCommandLine: boolean
  /** The sign-in was started by the link of an invitation. */
  readonly invited: InvitedShown | null
}

export const SignInPage = ({ forCommandLine, hrefOf, invited, providers }: SignInPageProps) => (
  <PlainPage title={invited === null ? "Sign in" : `Join ${invited.organization}`}>
    <h1>{invited === null ? "Sign in" : `Join ${invited.organization}`}</h1>
    {invited === null ? (
      <p class="soft">{forCommandLine ? "Sign in to authorize the command line." : "Choose an identity provider."}</p>
    ) : (
      <p>
        {invited.inviter ?? "A member"} invites you. Sign in as <b>{invited.email}</b> to join {invited.organization}.
      </p>
    )}
    {providers.length === 0 ? (
      <p>No identity provider is configured. Ask the operator to configure one.</p>
    ) : (
      <ul class="stack">
        {providers.map(({ id, name }) => (
          <li key={id}>
            <a class="button block" href={hrefOf(id)}>{`Continue with ${name}`}</a>
          </li>
        ))}
      </ul>
    )}
  </PlainPage>
)

export interface PendingPageProps extends InvitationCardsProps {
  readonly email: string | null
  readonly now?: DateTime.Utc
}

export const PendingPage = ({ email, form_token, invitations, now }: PendingPageProps) => (
  <PlainPage
    title="Waiting for approval"
    signedIn
    refresh={{ seconds: 30 }}
    {...(now === undefined ? {} : { now })}
    footer={<span role="status">This page reloads every 30 seconds and continues when your account is enabled.</span>}
  >
    <h1>Your account is waiting for approval</h1>
    <p>You are signed in{email === null ? "" : ` as ${email}`}, but the operator has not enabled your account yet.</p>
    <p class="soft">There is nothing to do: leave this page open, or come back later.</p>
    {invitations.length === 0 ? null : <InvitationCards invitations={invitations} form_token={form_token} />}
  </PlainPage>
)

export interface MessagePageProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly next?: { readonly href: string; readonly label: string }
  readonly request_id?: string | undefined
  readonly signedIn?: boolean
  /** Opens the page `to` after so many seconds. */
  readonly retry?: { readonly seconds: number; readonly to: string }
}

/** A refusal or failure: what happened, and one link. */
export const MessagePage = (props: MessagePageProps) => {
  const { children, next, request_id, retry, signedIn = false, title } = props
  return (
    <PlainPage
      title={title}
      signedIn={signedIn}
      {...(retry === undefined ? {} : { refresh: retry })}
      footer={
        request_id === undefined ? null : (
          <span>
            Request <Command>{request_id}</Command>
          </span>
        )
      }
    >
      <h1>{title}</h1>
      {children}
      {next === undefined ? null : (
        <p class="actions">
          <a class="button primary" href={next.href}>
            {next.label}
          </a>
        </p>
      )}
    </PlainPage>
  )
}

/** Pages without an organization: landing, sign-in, pending accounts, and messages. */
import type { ComponentChildren } from "preact"
import { InvitationCards, type InvitationCardsProps } from "./Invitations.tsx"
import { PlainPage } from "./Layout.tsx"
import { Command, Copyable } from "./parts.tsx"

export const Landing = ({ signedIn }: { readonly signedIn: boolean }) => (
  <PlainPage title="Postgres, hosted" wide signedIn={signedIn}>
    <div class="hero">
      <h1>Postgres that sleeps when you do</h1>
      <p class="lead">
        Projects with branches, endpoints that suspend when idle and wake on the next connection, and an IP allowlist
        that is checked on every connection.
      </p>
      <p class="actions">
        {signedIn ? (
          <a class="button primary" href="/projects">
            Open the console
          </a>
        ) : (
          <a class="button primary" href="/sign-in">
            Sign in
          </a>
        )}
      </p>
    </div>
    <ul class="cards">
      <li class="card">
        <h2>Branches</h2>
        <p>Copy a database in seconds. Try a migration on the branch, then delete it.</p>
      </li>
      <li class="card">
        <h2>Live</h2>
        <p>Every operation is an event. Watch an organization change, here or in the terminal.</p>
      </li>
      <li class="card">
        <h2>Command line</h2>
        <p>The console and the command line use the same API. Sign in once:</p>
        <Copyable id="login-command" label="Copy the command" text="narthex login" />
      </li>
    </ul>
  </PlainPage>
)

export interface SignInPageProps {
  readonly providers: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly hrefOf: (providerId: string) => string
  /** The sign-in was started by `narthex login`. */
  readonly forCommandLine: boolean
}

export const SignInPage = ({ forCommandLine, hrefOf, providers }: SignInPageProps) => (
  <PlainPage title="Sign in">
    <h1>Sign in</h1>
    <p class="soft">{forCommandLine ? "Sign in to authorize the command line." : "Choose an identity provider."}</p>
    <ul class="stack">
      {providers.map(({ id, name }) => (
        <li key={id}>
          <a class="button block" href={hrefOf(id)}>{`Continue with ${name}`}</a>
        </li>
      ))}
    </ul>
    {providers.length === 0 ? <p>No identity provider is configured. Ask the operator to configure one.</p> : null}
  </PlainPage>
)

export interface PendingPageProps extends InvitationCardsProps {
  readonly email: string | null
}

export const PendingPage = ({ email, form_token, invitations }: PendingPageProps) => (
  <PlainPage title="Waiting for approval" signedIn refresh={{ seconds: 30 }}>
    <h1>Your account is waiting for approval</h1>
    <p>You are signed in{email === null ? "" : ` as ${email}`}, but the operator has not enabled your account yet.</p>
    <p class="soft" role="status">
      This page reloads every 30 seconds and continues when your account is enabled.
    </p>
    {invitations.length === 0 ? null : <InvitationCards invitations={invitations} form_token={form_token} />}
  </PlainPage>
)

export interface MessagePageProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly next?: { readonly href: string; readonly label: string }
  readonly request_id?: string | undefined
  readonly signedIn?: boolean
}

/** A refusal or failure: one sentence and one link. */
export const MessagePage = ({ children, request_id, signedIn = false, title, next }: MessagePageProps) => (
  <PlainPage title={title} signedIn={signedIn}>
    <h1>{title}</h1>
    {children}
    {next === undefined ? null : (
      <p class="actions">
        <a class="button primary" href={next.href}>
          {next.label}
        </a>
      </p>
    )}
    {request_id === undefined ? null : (
      <p class="soft">
        Request <Command>{request_id}</Command>
      </p>
    )}
  </PlainPage>
)

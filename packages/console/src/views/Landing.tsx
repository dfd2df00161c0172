/** Pages for people who are not signed in yet, or not let in. */
import type { ComponentChildren } from "preact"
import { PlainPage } from "./Layout.tsx"
import { Command, Copyable } from "./parts.tsx"

export const Landing = ({ signedIn }: { readonly signedIn: boolean }) => (
  <PlainPage title="Postgres, hosted" wide signedIn={signedIn}>
    <div class="hero">
      <h1>Postgres that sleeps when you do</h1>
      <p class="lead">
        Projects with branches, endpoints that suspend when idle and wake on the next connection, and a network
        allowlist that holds on the way in.
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
        <p>Copy a database in seconds. Try the migration there, and throw the branch away.</p>
      </li>
      <li class="card">
        <h2>Live</h2>
        <p>Every operation is an event. Watch an organization as it changes, here or in the terminal.</p>
      </li>
      <li class="card">
        <h2>Command line</h2>
        <p>The console and the command line speak the same API. Sign in once:</p>
        <Copyable id="login-command" label="Copy the command" text="narthex login" />
      </li>
    </ul>
  </PlainPage>
)

export interface SignInPageProps {
  readonly providers: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly hrefOf: (providerId: string) => string
  /** A command line waits for this sign-in. */
  readonly forCommandLine: boolean
}

export const SignInPage = ({ forCommandLine, hrefOf, providers }: SignInPageProps) => (
  <PlainPage title="Sign in">
    <h1>Sign in</h1>
    <p class="soft">
      {forCommandLine ? "Sign in to let the command line have a key." : "Choose where you have an account."}
    </p>
    <ul class="stack">
      {providers.map(({ id, name }) => (
        <li key={id}>
          <a class="button block" href={hrefOf(id)}>{`Continue with ${name}`}</a>
        </li>
      ))}
    </ul>
    {providers.length === 0 ? <p>No identity provider is configured. Ask the operator.</p> : null}
  </PlainPage>
)

export const PendingPage = ({ email }: { readonly email: string | null }) => (
  <PlainPage title="Waiting for access" signedIn refresh={{ seconds: 30 }}>
    <h1>You are on the list</h1>
    <p>
      Access is limited at the moment. You are signed in{email === null ? "" : ` as ${email}`}, and your account is
      waiting to be enabled.
    </p>
    <p class="soft" role="status">
      This page looks again every 30 seconds and moves on by itself.
    </p>
  </PlainPage>
)

export interface MessagePageProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly way?: { readonly href: string; readonly label: string }
  readonly request_id?: string | undefined
  readonly signedIn?: boolean
}

/** Something did not go as wanted: one sentence, and one way on. */
export const MessagePage = ({ children, request_id, signedIn = false, title, way }: MessagePageProps) => (
  <PlainPage title={title} signedIn={signedIn}>
    <h1>{title}</h1>
    {children}
    {way === undefined ? null : (
      <p class="actions">
        <a class="button primary" href={way.href}>
          {way.label}
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

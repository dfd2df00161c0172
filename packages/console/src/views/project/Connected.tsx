/**
 * A Postgres role that was just made: its connection as the lines of each program, with the password. It is shown once
 * (docs/design/console.md W15), in place of the masked connection.
 */
import { Actions } from "../../components/Actions.tsx"
import { CopyField } from "../../components/CopyField.tsx"
import { Facts } from "../../components/Facts.tsx"
import { Notice } from "../../components/Notice.tsx"
import { Variants } from "../../components/Variants.tsx"
import { type Connection, linesOf, readConnection, type TabId } from "./connection.ts"

export interface Made {
  readonly branch: { readonly id: string; readonly name: string }
  readonly connection_uri: string
  /** A sentence about the role or sandbox. */
  readonly sentence: string
}

export interface ConnectedProps extends Made {
  /** The path of the project. */
  readonly here: string
  /** The address of the masked connection. */
  readonly back: string
  /** The program that is shown first. */
  readonly tab: TabId
}

export const Connected = ({ back, branch, connection_uri, here, sentence, tab }: ConnectedProps) => {
  const connection = readConnection(connection_uri)
  return (
    <>
      <Notice tone="busy" focused>
        The password is shown only once and cannot be recovered. {sentence}
      </Notice>
      {connection === null ? (
        <pre class="code">{connection_uri}</pre>
      ) : (
        <>
          <Variants name="tab" label="Program" items={linesOf(connection)} value={tab} copied />
          <ConnectionFacts
            connection={connection}
            more={[
              ["User", <CopyField id="connect-user" label="Copy the user" text={connection.user} />],
              [
                "Password",
                <CopyField
                  id="connect-password"
                  label="Copy the password"
                  text={connection.password}
                  short="••••••••"
                />
              ]
            ]}
          />
        </>
      )}
      <Actions>
        <a class="button primary" href={back}>
          I have stored it
        </a>
        <a class="button" href={`${here}/branches/${branch.id}/credentials`}>
          Credentials of {branch.name}
        </a>
      </Actions>
    </>
  )
}

interface ConnectionFactsProps {
  readonly connection: Connection
  readonly more?: Parameters<typeof Facts>[0]["items"]
}

export const ConnectionFacts = ({ connection, more = [] }: ConnectionFactsProps) => (
  <Facts
    items={[
      ["Host", <CopyField id="connect-host" label="Copy the host" text={connection.host} />],
      ["Port", <code>{connection.port}</code>],
      ["Database", <code>{connection.database}</code>],
      ...more,
      ...connection.parameters.map(([name, value]) => [name, <code>{value}</code>] as const)
    ]}
  />
)

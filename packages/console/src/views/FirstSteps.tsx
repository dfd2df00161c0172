/** The first steps of an organization without projects, each with its page and its command. */
import { Command } from "../components/Command.tsx"
import { installCommand } from "./commandLine.ts"

export interface FirstStepsProps {
  /** `/orgs/{org_id}` */
  readonly home: string
  readonly mayCreate: boolean
  readonly mayInvite: boolean
}

export const FirstSteps = ({ home, mayCreate, mayInvite }: FirstStepsProps) => (
  <section class="stack" aria-labelledby="first-steps">
    <div>
      <h2 id="first-steps">No projects yet</h2>
      <p class="soft">A project is a Postgres database with branches, in one region. Three steps to the first query:</p>
    </div>
    <ol class="steps">
      <li>
        <div>
          <h3>Create a project</h3>
          <p class="note">
            It comes with a branch and an endpoint. From the terminal: <Command>{installCommand}</Command>, once, then{" "}
            <Command>narthex login</Command> and <Command>narthex project create my-app</Command>
          </p>
        </div>
        {mayCreate ? (
          <a class="button primary" href={`${home}/projects/new`}>
            New project
          </a>
        ) : (
          <span class="note">Ask an owner for the permission.</span>
        )}
      </li>
      <li>
        <div>
          <h3>Connect</h3>
          <p class="note">
            The page of the project makes a connection string for psql or your program. It sleeps when idle, and wakes
            on the next connection.
          </p>
        </div>
      </li>
      <li>
        <div>
          <h3>{mayInvite ? "Bring your team, or your agents" : "Bring your agents"}</h3>
          <p class="note">{mayInvite ? "Invite members, or make" : "Make"} an API key for a program.</p>
        </div>
        <span class="row">
          {mayInvite ? (
            <a class="button" href={`${home}/members`}>
              Invite members
            </a>
          ) : null}
          <a class="button" href={`${home}/api-keys`}>
            Make an API key
          </a>
        </span>
      </li>
    </ol>
  </section>
)

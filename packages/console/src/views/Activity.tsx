/**
 * Live activity: the operations of a project. The server renders the rows; after an event the page reloads them, and
 * other regions with them.
 */
import { DateTime } from "effect"
import { LiveRegion } from "../components/LiveRegion.tsx"
import { State } from "../components/State.tsx"
import { Ago } from "../components/Times.tsx"
import { type OperationShown, operationTone, words } from "./records.ts"

export interface ActivityProps {
  /** The path of the relayed stream. */
  readonly src: string
  /** The page's path. The browser may be at another, that of a form shown again with errors. */
  readonly page: string
  readonly operations: ReadonlyArray<OperationShown>
  readonly empty: string
  /** Ids of the elements to reload after an event. */
  readonly regions?: ReadonlyArray<string>
}

export const Activity = ({ empty, operations, page, regions = [], src }: ActivityProps) => (
  <section class="card" aria-labelledby="activity-title">
    <header>
      <h2 id="activity-title">Activity</h2>
      <div class="more">
        <LiveRegion src={src} page={page} regions={["activity", ...regions]} />
      </div>
    </header>
    <div class="inside" id="activity">
      <ol class="feed">
        {operations.map((operation) => (
          <li key={operation.id} data-operation={operation.id}>
            <State tone={operationTone(operation.status)}>
              {words(operation.action)}, {operation.status}
            </State>
            <Ago at={DateTime.toUtc(operation.updated_at)} />
            <span class="under">
              {operation.error === null ? null : <span class="bad">{operation.error} </span>}
              {by(operation)}
            </span>
          </li>
        ))}
      </ol>
      {operations.length === 0 ? <p class="soft">{empty}</p> : null}
    </div>
  </section>
)

const by = ({ initiator }: OperationShown): string =>
  initiator.type === "system" ? "by the platform" : initiator.name === null ? "" : `by ${initiator.name}`

/**
 * Live activity: the operations of a project or an organization. The server renders the first rows; `<live-activity>`
 * follows the event stream, adds rows from the template, and reloads regions of the page when events were missed.
 */
import { DateTime } from "effect"
import { Status, Time } from "./parts.tsx"
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
  <section aria-labelledby="activity-title">
    <live-activity src={src} page={page} regions={regions.join(" ")}>
      <div class="heading">
        <h2 id="activity-title">Activity</h2>
        <p class="soft" role="status" data-state>
          <noscript>Reload the page to see new operations.</noscript>
        </p>
      </div>
      <ol class="feed" id="activity">
        {operations.map((operation) => (
          <li key={operation.id} data-operation={operation.id}>
            <Status tone={operationTone(operation.status)}>{operation.status}</Status>
            <span class="grow">
              {words(operation.action)}
              {operation.error === null ? null : <span class="error"> {operation.error}</span>}
              <span class="soft">{by(operation)}</span>
            </span>
            <Time at={DateTime.toUtc(operation.updated_at)} />
          </li>
        ))}
      </ol>
      {operations.length === 0 ? (
        <p class="soft" data-empty>
          {empty}
        </p>
      ) : null}
      <template>
        <li>
          <span class="status" data-status />
          <span class="grow">
            <span data-action />
            <span class="soft" data-subject />
          </span>
          <local-time>
            <time data-time />
          </local-time>
        </li>
      </template>
    </live-activity>
  </section>
)

const by = ({ initiator }: OperationShown): string =>
  initiator.type === "system" ? " by the platform" : initiator.name === null ? "" : ` by ${initiator.name}`

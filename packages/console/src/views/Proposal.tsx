/**
 * The page of a proposal that an agent makes for *main*. The proposal is in the fragment of the address, so the page is the
 * same for everyone, knows nothing of it, and stores and runs nothing.
 */
import { Facts } from "../components/Facts.tsx"
import { Notice } from "../components/Notice.tsx"
import { PlainPage } from "../shell/PlainPage.tsx"

export const ProposalPage = () => (
  <PlainPage title="Proposal of an agent">
    <h1>Proposal of an agent</h1>
    <agent-proposal>
      <p>This link has no proposal that can be shown. It may be cut off. Ask the agent for the whole link.</p>
      <div class="stack" hidden>
        <Notice tone="bad">
          A program wrote everything below, and it may be wrong or meant to mislead you. Nothing has happened to the
          database. Run the SQL only if you understand every line of it.
        </Notice>
        <Facts items={[["Branch, as the agent says", <span id="proposal-branch" />]]} />
        <div>
          <h2>Reason, as the agent says</h2>
          <p id="proposal-reason" class="given" />
        </div>
        <div>
          <h2>SQL</h2>
          <pre id="proposal-sql" class="code" />
          <copy-button for="proposal-sql" label="Copy the SQL" />
        </div>
        <div>
          <h2>To run it</h2>
          <p>Open psql on the branch with your own rights, and paste the SQL there.</p>
          <p class="copy field-like">
            <code id="proposal-command" />
            <copy-button for="proposal-command" label="Copy the command" />
          </p>
        </div>
      </div>
    </agent-proposal>
  </PlainPage>
)

/** How clients of agents are connected with a key, as blocks to copy (docs/design/console.md W59). */
import { CopyField } from "../components/CopyField.tsx"

export interface AgentClientsProps {
  readonly secret: string
  /** Where the API is, for the command line. */
  readonly api_url: string
  /** The address of the MCP server; `null`: this platform has none, and agents use the command line. */
  readonly mcp_url: string | null
}

const blocksOf = ({ api_url, mcp_url, secret }: AgentClientsProps) => [
  ...(mcp_url === null
    ? []
    : [
        {
          id: "claude-code",
          title: "Claude Code",
          text: `claude mcp add --transport http narthex ${mcp_url} --header "Authorization: Bearer ${secret}"`
        },
        {
          id: "json-http",
          title: "Clients with a file of JSON: Cursor, VS Code, Windsurf",
          text: JSON.stringify({
            mcpServers: { narthex: { type: "http", url: mcp_url, headers: { Authorization: `Bearer ${secret}` } } }
          })
        }
      ]),
  {
    id: "json-stdio",
    title: "Clients that start a program: Claude Desktop",
    text: JSON.stringify({
      mcpServers: {
        narthex: { command: "narthex", args: ["mcp"], env: { NARTHEX_URL: api_url, NARTHEX_API_KEY: secret } }
      }
    })
  }
]

export const AgentClients = (props: AgentClientsProps) => (
  <section class="stack" aria-labelledby="clients-title">
    <h2 id="clients-title">Connect an agent</h2>
    <p class="soft">Each block has the secret in it. Keep it out of files that you share.</p>
    {blocksOf(props).map(({ id, text, title }) => (
      <CopyField key={id} id={id} label={`Copy the block for ${title}`} title={title} text={text} wide />
    ))}
  </section>
)

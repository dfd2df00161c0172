/** Rows 1 and 26 of the matrix: calls for which a person's credential does not matter. */
import { type Row, text } from "./cells.ts"

export const outside: ReadonlyArray<Row> = [
  {
    row: "1",
    says: "exchange, cli/exchange, providers, credentials/report, jwks, health, OpenAPI",
    cells: "2 2 2 2 2 2 2 2 2 2 2 2 2",
    calls: [
      { call: "auth.exchange", body: () => ({ id_token: `email:${text()}@example.com:1` }) },
      { call: "cli.exchange", body: () => ({}), success: 401 },
      { call: "auth.providers" },
      { call: "credentials.report", body: () => ({ secret: "nothing" }), success: 202 },
      { call: "auth.jwks" },
      { call: "service.livez" },
      { call: "service.readyz" }
    ]
  },
  {
    row: "26",
    says: "/v1/proxy/*",
    cells: "401 401 401 401 401 401 401 401 401 401 401 401 401",
    calls: [
      { call: "proxy.resolve", kind: "endpoint", body: ({ endpoint_id }) => ({ endpoint_id }) },
      { call: "proxy.allowlists", kind: "project", body: ({ project_id }) => ({ project_ids: [project_id] }) },
      { call: "proxy.changes" },
      { call: "proxy.wake", kind: "endpoint", body: () => ({ client_address: "192.0.2.1" }) },
      {
        call: "proxy.cancel",
        body: () => ({ key_hash: "0".repeat(64), client_address: "192.0.2.1" }),
        success: 204
      },
      { call: "proxy.activity", body: () => ({ endpoints: [] }), success: 204 },
      { call: "proxy.refusals", body: () => ({ proxy_id: "p-1", sequence: 1, refusals: [] }), success: 204 }
    ]
  }
]

/** The meaning of a member of a body, stated at its schema. The OpenAPI document includes it. */

/**
 * A sentence, and an example as it is on the wire. An example that is left out is derived from the member's type;
 * `undefined` leaves the member out of examples.
 */
export type MemberEntry = readonly [text: string, example?: unknown]

/** The annotation of a member: `name: Schema.String.annotateKey(means("The name of the project.", "checkout"))`. */
export const means = (...entry: MemberEntry) => ({ means: entry })

/** The ids and times that the examples of all bodies share, so that one page tells one story. */
export const exampleIds = {
  organization: "01980f3e-5c00-7a31-8f6e-2b1d90c4a7e5",
  user: "01980f3e-5bff-7c02-9d11-54e3a2f7b8c6",
  session: "01980f40-1d00-7b6f-a2c4-0f9e8d7c6b5a",
  invitation: "01980f41-2e00-7d10-b3a5-1a2b3c4d5e6f",
  operation: "01980f42-3f00-7e21-84b6-6f5e4d3c2b1a",
  project: "prj-01m80m4ce8e4h6v2k9t3x7w5qa",
  branch: "br-01m80m4ce9f7j3b6n8r0s2y4zc",
  endpoint: "ep-01m80m4cea1d5g9h7k3m6p8tvw",
  api_key: "key-01m80m4ceb2c4e6g8j0k2m4n6q",
  webhook: "wh-01m80m4ced3f5h7k9m1n3p5r7t",
  event: "01M80M4CEC9X5B7D1F3H5J7K9M"
} as const

export const exampleTimes = {
  created: "2026-11-23T09:30:00.000Z",
  updated: "2026-11-23T09:41:07.250Z",
  soon: "2026-11-23T09:56:07.250Z",
  later: "2026-11-23T21:30:00.000Z",
  expires: "2026-11-30T09:30:00.000Z"
} as const

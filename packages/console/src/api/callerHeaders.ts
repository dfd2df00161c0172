/**
 * The headers that report the browser behind a call to the API: limits, sessions and allowlists refer to the browser's
 * address, not to the console's. The API trusts these headers only together with the console's token
 * (docs/design/identity.md I43), so without a token none is sent.
 */

const maxAgentLength = 512

export const callerHeaders = (
  token: string | undefined,
  client: string | null,
  agent: string | undefined
): Readonly<Record<string, string>> =>
  token === undefined
    ? {}
    : {
        "narthex-console": token,
        ...(client === null ? {} : { "narthex-client-address": client }),
        ...(agent === undefined ? {} : { "narthex-client-agent": agent.slice(0, maxAgentLength) })
      }

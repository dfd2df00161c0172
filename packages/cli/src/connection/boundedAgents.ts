/**
 * Agents with the options of Node's global ones, and a bound for the connection with its TLS handshake. Each module is
 * loaded by the first request that needs it.
 *
 * A tunnel through a proxy has no socket yet when it is asked for; the bound of the response head covers it.
 */
import type * as Http from "node:http"
import type * as Https from "node:https"

/** Variables as `HTTPS_PROXY`. */
type ProxyVariables = Readonly<Record<string, string>>

/** `within`: milliseconds. */
export const boundedAgents = (
  within: number,
  proxyEnv: ProxyVariables
): { readonly http: Http.Agent; readonly https: Https.Agent } => {
  let http: Http.Agent | undefined
  let https: Https.Agent | undefined
  return {
    get http() {
      const { Agent, globalAgent } = process.getBuiltinModule("node:http")
      // Each agent has `options`; the types declare them for https alone.
      const { options } = globalAgent as Http.Agent & { readonly options: Http.AgentOptions }
      http ??= bounded(new Agent({ ...options, proxyEnv }), "connect", within)
      return http
    },
    get https() {
      const { Agent, globalAgent } = process.getBuiltinModule("node:https")
      https ??= bounded(new Agent({ ...globalAgent.options, proxyEnv }), "secureConnect", within)
      return https
    }
  }
}

const bounded = <A extends Http.Agent>(agent: A, ready: "connect" | "secureConnect", within: number): A => {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback)
    if (!socket) return socket
    const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${within} ms`)), within)
    for (const over of [ready, "close"]) socket.once(over, () => clearTimeout(timer))
    return socket
  }
  return agent
}

/**
 * The HTTP proxies that the environment names, by the conventions of curl: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` for
 * both, and `NO_PROXY` for hosts without one; lower case counts before upper case. Servers on loopback have none, as in
 * Go. Node does the rest (`proxyEnv`), from Node 22.21 on.
 *
 * Pitfall: passing on what is no URL of an HTTP proxy, as `socks5://…`. Node throws when the agent is made.
 */
import type { Variables } from "./Environment.ts"

const loopback = "localhost,127.0.0.1,[::1]"

export const proxiesIn = (variables: Variables): Readonly<Record<string, string>> => {
  const set = (name: string) => variables[name.toLowerCase()]?.trim() || variables[name]?.trim() || undefined
  const proxy = (name: string) => [set(name), set("ALL_PROXY")].map(httpProxy).find((url) => url !== undefined)
  const [http, https, none] = [proxy("HTTP_PROXY"), proxy("HTTPS_PROXY"), set("NO_PROXY")]
  return {
    ...(http === undefined ? {} : { HTTP_PROXY: http }),
    ...(https === undefined ? {} : { HTTPS_PROXY: https }),
    NO_PROXY: none === undefined ? loopback : `${none},${loopback}`
  }
}

/** `proxy.example.com:3128` is an address of an HTTP proxy as well. */
const httpProxy = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const url = URL.parse(text.includes("://") ? text : `http://${text}`)
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : undefined
}

/** Signs in at a development provider through its pages, as a browser does, and returns the id token. */
import { createHash, randomBytes } from "node:crypto"

/** Milliseconds. Without a limit a request that hangs would fail the whole test without naming the request. */
const limit = 45_000

const hidden = (html: string, name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(html)?.[1]

/** Keeps cookies by path, and follows redirects until `stop` accepts the address. */
const follow = async (start: URL, init: RequestInit, jar: Map<string, string>, stop: (url: URL) => boolean) => {
  let url = start
  let request = init
  for (let hop = 0; hop < 12; hop++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(url, {
      ...request,
      headers: { accept: "text/html", cookie },
      redirect: "manual",
      signal: AbortSignal.timeout(limit)
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get("location")
    if (location === null) return { url, text: await response.text() }
    url = new URL(location, url)
    if (stop(url)) return { url, text: "" }
    request = {}
  }
  throw new Error(`Too many redirects after ${start}.`)
}

/** Authorization code with PKCE; `redirectUri` is the console's, which is registered there. */
export const signInAt = async (issuer: string, redirectUri: string, email: string): Promise<string> => {
  const verifier = randomBytes(32).toString("base64url")
  const authorize = new URL(`${issuer}/authorize`)
  authorize.search = new URLSearchParams({
    client_id: "narthex",
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid email profile",
    state: randomBytes(8).toString("hex"),
    nonce: randomBytes(8).toString("hex"),
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256"
  }).toString()
  const jar = new Map<string, string>()
  const atApplication = (url: URL) => url.href.startsWith(redirectUri)
  const page = await follow(authorize, {}, jar, atApplication)
  const form = new URLSearchParams({ email, name: hidden(page.text, "name") ?? "", email_verified: "true" })
  const landing = await follow(page.url, { method: "POST", body: form }, jar, atApplication)
  const code = landing.url.searchParams.get("code")
  if (code === null) throw new Error(`The provider gave no code: ${landing.url} ${landing.text.slice(0, 300)}`)
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    signal: AbortSignal.timeout(limit),
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: "narthex",
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier
    })
  })
  const { id_token } = (await answer.json()) as { readonly id_token?: string } // OpenID Connect Core, §3.1.3.3
  if (id_token === undefined) throw new Error(`The provider gave no id token: ${answer.status}`)
  return id_token
}

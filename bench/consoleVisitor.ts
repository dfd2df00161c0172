/** A person at the console without a browser: cookies, redirects, and the forms that the benchmark needs. */

const text = async (response: Response): Promise<string> => {
  const body = await response.text()
  if (response.status >= 400) throw new Error(`${response.url} answered ${response.status}: ${body.slice(0, 300)}`)
  return body
}

export class Visitor {
  readonly #origin: string
  readonly #cookies = new Map<string, string>()

  constructor(origin: string) {
    this.#origin = origin
  }

  /** A page. Rejects if the answer is a redirect or an error. */
  async page(path: string): Promise<string> {
    const response = await this.#send(new URL(path, this.#origin))
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}.`)
    return text(response)
  }

  /** Signs in at the first development provider, with its form, and returns the path of the organization. */
  async signIn(email: string): Promise<string> {
    const form = await this.#follow(new URL("/sign-in/dev-one", this.#origin))
    const body = new URLSearchParams({ email, name: "Ada", email_verified: "true", action: "sign-in" })
    const { url } = await this.#follow(form.url, { method: "POST", body })
    return url.pathname.split("/").slice(0, 3).join("/")
  }

  /** Creates a project, and returns its path. */
  async newProject(home: string, name: string): Promise<string> {
    const body = new URLSearchParams({ name, region: "local" })
    const { url } = await this.#follow(new URL(`${home}/projects`, this.#origin), { method: "POST", body })
    const path = /^\/orgs\/[^/]+\/projects\/[^/]+/.exec(url.pathname)?.[0]
    if (path === undefined) throw new Error(`The project was not created: ${url.pathname}`)
    return path
  }

  async #follow(url: URL, init: RequestInit = {}): Promise<{ readonly url: URL; readonly text: string }> {
    const response = await this.#send(url, init)
    const location = response.headers.get("location")
    const body = await text(response)
    return location === null ? { url, text: body } : this.#follow(new URL(location, url))
  }

  async #send(url: URL, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const headers = { cookie, "sec-fetch-site": "same-origin" }
    const response = await fetch(url, { ...init, headers, redirect: "manual" })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    return response
  }
}

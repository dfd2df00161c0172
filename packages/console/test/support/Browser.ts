/**
 * A minimal browser: cookies, redirects one by one, forms of a page. The browser sends the headers of a same-origin
 * form; a test of another site overrides them.
 */
import { assert } from "@effect/vitest"

export interface Page {
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Init {
  readonly method?: string
  readonly body?: URLSearchParams | string
  readonly headers?: Readonly<Record<string, string>>
}

export class Browser {
  readonly cookies = new Map<string, string>()
  readonly origin: string

  constructor(origin: string) {
    this.origin = origin
  }

  /** One request; redirects are not followed. */
  async send(target: string | URL, init: Init = {}): Promise<Page> {
    const url = new URL(target, this.origin)
    const response = await fetch(url, {
      redirect: "manual",
      method: init.method ?? "GET",
      ...(init.body === undefined ? {} : { body: init.body }),
      headers: { cookie: this.cookieHeader, "sec-fetch-site": "same-origin", ...init.headers }
    })
    for (const line of response.headers.getSetCookie()) this.keep(line)
    return { url, status: response.status, headers: response.headers, text: await response.text() }
  }

  /** The name of the cookie of a session over plain http. */
  get session() {
    return `narthex-${new URL(this.origin).port}`
  }

  get cookieHeader() {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
  }

  /** Follows redirects until there is a page. */
  async open(target: string | URL, init: Init = {}): Promise<Page> {
    const page = await this.send(target, init)
    const location = page.headers.get("location")
    return location === null ? page : this.open(new URL(location, page.url))
  }

  post(path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    return this.send(path, { method: "POST", body: new URLSearchParams(fields), headers })
  }

  /** Signs in as `email` at a development provider, with its form. */
  async signIn(email: string, from = "/sign-in/dev-one"): Promise<Page> {
    const form = await this.open(from)
    assert(form.text.includes('name="email"'), `no form of a provider:\n${form.text}`)
    const sent = new URLSearchParams({ email, name: "Ada", email_verified: "true", action: "sign-in" })
    return this.open(form.url, { method: "POST", body: sent })
  }

  private keep(line: string) {
    const [, name, value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    assert(name !== undefined, line)
    if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

/** The value of the hidden or visible field with this name. */
export const fieldIn = (page: Page, name: string): string => {
  const tag = new RegExp(`<(?:input|button)[^>]*name="${name}"[^>]*>`).exec(page.text)?.[0]
  const value = /value="([^"]*)"/.exec(tag ?? "")?.[1]
  assert(value !== undefined, `no field ${name} in\n${page.text}`)
  return value
}

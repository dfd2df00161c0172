/**
 * As much of a browser as a sign-in needs: it follows redirects, keeps cookies by path, and fills in the form.
 *
 * Like a real one it keeps cookies by host, not by port. It stops at addresses of the application, which is not there.
 */
import { assert } from "@effect/vitest"

export interface Landing {
  readonly url: URL
  readonly response: Response
  readonly text: string
}

export class Browser {
  readonly cookies = new Map<string, { readonly path: string; readonly value: string }>()

  /** Requests `url` and what it redirects to, until a page or the application is reached. */
  async go(url: URL, init: RequestInit = {}): Promise<Landing> {
    const cookie = [...this.cookies]
      .filter(([, { path }]) => url.pathname === path || url.pathname.startsWith(path.replace(/\/?$/, "/")))
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ")
    const response = await fetch(url, { ...init, headers: { accept: "text/html", cookie }, redirect: "manual" })
    for (const line of response.headers.getSetCookie()) this.keep(line)
    const location = response.headers.get("location")
    if (location === null) return { url, response, text: await response.text() }
    await response.body?.cancel()
    const next = new URL(location, url)
    return next.pathname === "/callback" ? { url: next, response, text: "" } : this.go(next)
  }

  /** Submits the form of a page, with the values that it shows but for those given. */
  submit(page: Landing, values: Record<string, string>): Promise<Landing> {
    const body = new URLSearchParams({ email: field(page, "email"), name: field(page, "name") })
    if (/name="email_verified"[^>]* checked/.test(page.text)) body.set("email_verified", "true")
    for (const [name, value] of Object.entries(values)) {
      if (value === "") body.delete(name)
      else body.set(name, value)
    }
    return this.go(page.url, { method: "POST", body })
  }

  private keep(line: string) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    assert(name !== undefined && value !== undefined, line)
    if (/expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, { value, path: /path=([^;]+)/i.exec(line)?.[1] ?? "/" })
  }
}

/** The value that a field of the page shows. */
export const field = (page: Landing, name: string) => {
  const input = new RegExp(`<input id="${name}"[^>]* value="([^"]*)"`).exec(page.text)
  assert(input?.[1] !== undefined, `no field ${name} in ${page.text}`)
  return input[1]
}

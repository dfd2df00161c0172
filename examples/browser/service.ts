/** A service that serves the page, and the API on the same origin for the sessions of its own. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ControlPlane, HostSession } from "narthex"

const html = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>Events</title>
  <body>
    <h1>Events</h1>
    <ul></ul>
    <script type="module" src="/page.js"></script>
  </body>
</html>`

/** Your own sessions: the values of a cookie that pages cannot read, and the people who signed in. */
export const makeSessions = () => {
  const people = new Map<string, string>()
  return {
    /** After your own sign-in. Returns the header that sets the cookie; add `Secure` where you serve https. */
    begin: (person: string): string => {
      const id = crypto.randomUUID()
      people.set(id, person)
      return `app=${id}; HttpOnly; SameSite=Lax; Path=/`
    },
    /** The option `hostSession` of the control plane. */
    hostSession: async (request: Request): Promise<HostSession | null> => {
      const id = /(?:^|; )app=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1] ?? ""
      const person = people.get(id)
      return person === undefined ? null : { person, id }
    },
    /** Your own sign-out: forgets your session, and ends the control plane's. */
    end: async (cp: ControlPlane, session: HostSession): Promise<void> => {
      people.delete(session.id)
      await cp.sessions.end(session)
    }
  }
}

/** `script` is the bundle of `page.ts`. */
export const makeService =
  (cp: ControlPlane, script: string) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === "/") response.setHeader("content-type", "text/html; charset=utf-8").end(html)
    else if (request.url === "/page.js") response.setHeader("content-type", "text/javascript").end(script)
    else cp.node(request, response)
  }

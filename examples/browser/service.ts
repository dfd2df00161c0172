/** A service that serves the page with a session of the person, and the API on the same origin. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ControlPlane, Person } from "narthex"

const html = (token: string) => `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>Events</title>
  <body data-token="${token}">
    <h1>Events</h1>
    <ul></ul>
    <script type="module" src="/page.js"></script>
  </body>
</html>`

/** `signedIn` is whom your own session cookie names; `script` is the bundle of `page.ts`. */
export const makeService =
  (cp: ControlPlane, signedIn: (request: IncomingMessage) => Person, script: string) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const page = async () => {
      const { access_token } = await cp.sessions.start(signedIn(request))
      response.setHeader("content-type", "text/html; charset=utf-8").setHeader("cache-control", "no-store")
      response.end(html(access_token))
    }
    if (request.url === "/") void page().catch(() => response.writeHead(500).end())
    else if (request.url === "/page.js") response.setHeader("content-type", "text/javascript").end(script)
    else cp.node(request, response)
  }

/** The control plane with all state in memory, for a worker: it serves a call of the API. */
import { createControlPlane } from "narthex"

/** The status and the body of a call that needs no credential, and of one that does. */
export const run = async () => {
  const cp = await createControlPlane({ log: "off" })
  const answerTo = async (path: string) => {
    const answer = await cp.fetch(new Request(`https://worker.example.com${path}`))
    return { status: answer.status, body: await answer.json() }
  }
  const providers = await answerTo("/v1/auth/providers")
  const whoami = await answerTo("/v1/auth/whoami")
  await cp.close()
  return { providers: providers.status, whoami: [whoami.status, whoami.body.code] }
}

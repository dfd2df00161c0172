/** The control plane with all state in memory, for a worker: it signs a person in and serves calls and a stream. */
import { createControlPlane } from "narthex"

/** The text of a stream, read until it shows something, or to the end. */
const reading = ({ body }: Response) => {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  return async (shown: (text: string) => boolean = () => false): Promise<string> => {
    while (!shown(text)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done || value === undefined) break
      text += decoder.decode(value, { stream: true })
    }
    return text
  }
}

/** The answers to calls with a credential and without, and the text of a stream until the control plane ended. */
export const run = async () => {
  const cp = await createControlPlane({ log: "off", grace: 200 })
  const answerTo = (path: string, credential?: string) =>
    cp.fetch(
      new Request(
        `https://worker.example.com${path}`,
        credential === undefined ? {} : { headers: { authorization: `Bearer ${credential}` } }
      )
    )
  const providers = await answerTo("/v1/auth/providers")
  const whoami = await answerTo("/v1/auth/whoami")
  const refusal = await whoami.json()

  const client = cp.client(await cp.sessions.start(await cp.people.ensure({ subject: "user_42" })))
  const { secret } = await client.apiKeys.create({ name: "ci", capability: "read" })
  const { kind } = await cp.authenticate(secret)
  const read = reading(await answerTo("/v1/events", secret))
  const { project } = await client.projects.create({ name: "shop" })
  const event = /^event: (.*)$/m.exec(await read((text) => text.includes("\ndata: ")))?.[1]
  const [stream] = await Promise.all([read(), cp.close()])
  return {
    providers: providers.status,
    whoami: [whoami.status, refusal.code],
    caller: kind,
    project: project.name,
    event,
    end: /^: closing reason=(.*)$/m.exec(stream)?.[1],
    afterwards: (await answerTo("/v1/auth/providers")).status
  }
}

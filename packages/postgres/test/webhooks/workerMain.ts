/**
 * One worker of webhooks, for the test that kills it: `node workerMain.ts <url>`. It delivers until it is killed. It
 * posts without TLS, to whatever address the URL of a webhook has.
 */
import {
  defaultWebhookSettings,
  EventFeed,
  layerSecretSealer,
  WebhookPolicy,
  WebhookSender,
  WebhookUnreached,
  WebhookWorker
} from "@narthex/core"
import { Duration, Effect, Layer, Redacted } from "effect"
import { Database, PostgresStorage } from "../../src/index.ts"
import { silent } from "../support/silent.ts"
import { sealingKey } from "./sealingKey.ts"

const [, , url = ""] = process.argv

const Sends = Layer.succeed(WebhookSender, {
  post: ({ body, headers, url: to }) =>
    Effect.tryPromise({
      try: async (signal) => {
        const answer = await fetch(to, { method: "POST", headers, body, signal })
        return { status: answer.status, retry_after: null, excerpt: await answer.text() }
      },
      catch: () => new WebhookUnreached({ reason: "The connection failed." })
    })
})

const worker = WebhookWorker.layerLoop.pipe(
  Layer.provide(EventFeed.layer),
  Layer.provide(PostgresStorage.layer),
  Layer.provide(Database.layer({ url: Redacted.make(url), maxConnections: 4, applicationName: "narthex-webhooks" })),
  Layer.provide(
    Layer.mergeAll(
      Sends,
      silent,
      layerSecretSealer(sealingKey),
      Layer.succeed(WebhookPolicy, { ...defaultWebhookSettings, poll: Duration.millis(20) })
    )
  )
)

await Effect.runPromise(Layer.launch(worker))

/**
 * Webhooks under kill -9: workers die before a message is answered, right after, a moment later while the success is
 * recorded, or while they claim. Every event is delivered, in order, and nothing but the last one twice.
 * Holds docs/design/webhooks.md H2 and H17.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, layer } from "@effect/vitest"
import { EventLog, layerSecretSealer, SecretSealer, Transaction, WebhookStore } from "@narthex/core"
import { anOrgId, aWebhook } from "@narthex/core/testing"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { eventually, within } from "../../../../test/harness/eventually.ts"
import { times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { program } from "../../../../test/harness/programs.ts"
import { Database, PostgresStorage } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { sealingKey } from "./sealingKey.ts"

/** How often a worker is killed at each moment. */
const rounds = times(1, 25)

const moments = ["before the answer", "after the answer", "while it records", "while it claims"] as const
type Moment = (typeof moments)[number]

class Worker {
  readonly #script: string
  readonly #url: string
  #child: ChildProcess | undefined

  constructor(script: string, url: string) {
    this.#script = script
    this.#url = url
  }

  start() {
    this.#child = spawn(process.execPath, [this.#script, this.#url], { stdio: "ignore" })
  }

  /** Sends the signal at once. */
  kill() {
    this.#child?.kill("SIGKILL")
  }

  async ended(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    await within("a worker to end by kill -9", once(child, "exit"))
  }
}

/** A receiver that answers 200, and what it got for each path: the numbers of the events, in the order of arrival. */
const makeReceiver = Effect.gen(function* () {
  const got = new Map<string, Array<number>>()
  const state: { answer: (respond: () => void) => void } = { answer: (respond) => respond() }
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part) => {
      body += part
    })
    request.on("end", () => {
      const path = request.url ?? ""
      got.set(path, [...(got.get(path) ?? []), JSON.parse(body).data.n])
      state.answer(() => response.writeHead(200).end())
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return { got, state, port: typeof address === "object" && address !== null ? address.port : 0 }
})

layer(PostgresServer.layer, { excludeTestServices: true })("webhooks under kill -9", (it) => {
  it.effect(
    "every event is delivered in order, whenever the worker dies",
    () =>
      Effect.gen(function* () {
        const url = yield* (yield* PostgresServer).migrated
        const database = Database.layer({ url, maxConnections: 4, applicationName: "narthex-test" })
        const script = yield* Effect.promise(() => program("webhook-worker"))
        const { got, port, state } = yield* makeReceiver
        const worker = new Worker(script, Redacted.value(url))
        yield* Effect.addFinalizer(() =>
          Effect.promise(async () => {
            worker.kill()
            await worker.ended()
          })
        )
        yield* Effect.gen(function* () {
          const { emit, run } = yield* Transaction
          const { sequence } = yield* EventLog
          const { query } = yield* Database
          const org_id = anOrgId()
          const paths = ["/a", "/b"]
          for (const path of paths) {
            const bare = aWebhook({ org_id, url: `http://127.0.0.1:${port}${path}`, due_at: yield* DateTime.now })
            const secret = yield* (yield* SecretSealer).seal(Redacted.make("whsec_AAAA"), bare.id)
            const position = "00000000000000000000000000"
            yield* (yield* WebhookStore).insert(aWebhook({ ...bare, secret, position }))
          }
          let emitted = 0
          const more = Effect.gen(function* () {
            for (let n = 0; n < 3; n++) {
              const data = { n: ++emitted }
              yield* run(emit({ org_id, project_id: null, type: "test.n.v1", source: "host", internal: false, data }))
            }
            yield* sequence
          })
          const reached = (path: string) => Math.max(0, ...(got.get(path) ?? []))
          const kills: Record<Moment, () => Promise<void>> = {
            "before the answer": async () => {
              await new Promise<void>((done) => {
                state.answer = () => {
                  worker.kill()
                  done()
                }
              })
            },
            "after the answer": async () => {
              await new Promise<void>((done) => {
                state.answer = (respond) => {
                  respond()
                  worker.kill()
                  done()
                }
              })
            },
            "while it records": async () => {
              await new Promise<void>((done) => {
                state.answer = (respond) => {
                  respond()
                  setTimeout(() => {
                    worker.kill()
                    done()
                  }, Math.random() * 20)
                }
              })
            },
            "while it claims": async () => {
              await sleep(Math.random() * 1_000)
              worker.kill()
            }
          }
          for (let round = 0; round < rounds; round++)
            for (const moment of moments) {
              yield* more
              worker.start()
              yield* Effect.promise(() => within(`a kill ${moment}`, kills[moment]()))
              yield* Effect.promise(() => worker.ended())
              state.answer = (respond) => respond()
              // As if the lease of the dead worker, or the pause after a failure, had passed.
              yield* query("test", "update narthex.webhook set due_at = now()")
            }
          worker.start()
          yield* eventually(
            "every event to be delivered to both receivers",
            Effect.sync(() => paths.every((path) => reached(path) === emitted))
          )
          for (const path of paths) {
            const all = got.get(path) ?? []
            assert.deepStrictEqual(
              [...new Set(all)],
              Array.from({ length: emitted }, (_, n) => n + 1)
            )
            // A repetition follows the first delivery at once: nothing was delivered in between.
            for (const [index, n] of all.entries()) assert.isAtLeast(n, Math.max(...all.slice(0, index), 0))
          }
          note(`${rounds * moments.length} kills, ${emitted} events, ${[...got.values()].flat().length} messages`)
        }).pipe(
          Effect.provide(
            Layer.merge(PostgresStorage.layer, layerSecretSealer(sealingKey)).pipe(Layer.provideMerge(database))
          )
        )
      }).pipe(Effect.scoped),
    { timeout: rounds * 60_000 + 120_000 }
  )
})

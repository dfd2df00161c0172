/** A process of its own that walks a whole sign-in and prints one line: whatever else it prints, a library said. */
import { Effect, Logger } from "effect"
import { running } from "./running.ts"
import { signIn } from "./signIn.ts"

const walk = Effect.gen(function* () {
  const [{ issuer }] = yield* running()
  const { tokens } = yield* Effect.promise(() => signIn(issuer, "ada@example.com"))
  yield* Effect.promise(() => fetch(`${issuer}/authorize`).then((response) => response.text()))
  yield* Effect.promise(() => fetch(`${issuer}/token`, { method: "POST" }).then((response) => response.text()))
  process.stdout.write(`${tokens.status}\n`)
})

await Effect.runPromise(Effect.scoped(walk).pipe(Effect.provide(Logger.layer([]))))

/** The operator's log has one line for each refusal or failure whose reason the caller does not get. */
import { assert, layer } from "@effect/vitest"
import { StorageError } from "@narthex/core"
import { Effect, Layer, Logger, References } from "effect"
import { problems } from "../../src/toProblem.ts"
import { idToken, memoryApi } from "../support/apiOver.ts"
import { refused } from "../support/story.ts"
import { call } from "../support/wire.ts"

const lines: Array<{ readonly message: ReadonlyArray<unknown>; readonly request_id: unknown }> = []

const listening = Logger.layer([
  Logger.make(({ fiber, message }) => {
    const { request_id } = fiber.getRef(References.CurrentLogAnnotations)
    lines.push({ message: Array.isArray(message) ? message : [message], request_id })
  })
])

const heard = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    lines.length = 0
    return Effect.as(Effect.exit(work), lines)
  })

const access = { sign_in_allowlist: ["@example.com"] }

layer(Layer.provideMerge(memoryApi({ access }), listening), { excludeTestServices: true })(
  "the operator's log",
  (it) => {
    it.effect("the reason of a refused sign-in is one line with its request id, and no token or address", () =>
      Effect.gen(function* () {
        const signIn = (id_token: string) =>
          call("POST", "/v1/auth/exchange", { body: { id_token }, headers: { "x-request-id": "req-1" } })
        const cases = [
          ["forged:token:text", /provider: unknown.*unknown token/, 401, "invalid_token"],
          [idToken("ada@elsewhere.test"), /provider: test.*sign-in allowlist/, 403, "email_not_allowed"]
        ] as const
        for (const [token, reason, status, code] of cases) {
          const found = [
            ...(yield* heard(Effect.tap(signIn(token), (answer) => Effect.sync(() => refused(answer, status, code)))))
          ]
          assert.strictEqual(found.length, 1, JSON.stringify(found))
          const [line] = found
          assert.strictEqual(line?.request_id, "req-1")
          assert.strictEqual(line?.message.length, 1)
          const text = String(line?.message[0])
          assert.match(text, /^A sign-in was refused/)
          assert.match(text, reason)
          for (const private_text of [token, "\n", "elsewhere.test"]) assert.notInclude(text, private_text)
        }
      })
    )

    it.effect("a failed statement is one line with its operation and the server's code", () =>
      Effect.gen(function* () {
        const server = Object.assign(new Error('invalid byte sequence for encoding\n "UTF8": 0x00'), {
          code: "22021",
          routine: "report_invalid_encoding"
        })
        const driver = new Error("The statement failed.", { cause: server })
        const failing = problems(Effect.fail(new StorageError({ operation: "ProjectStore.find", cause: driver })))
        assert.deepStrictEqual(
          (yield* heard(failing)).map(({ message }) => message),
          [['Storage failed in ProjectStore.find. 22021: invalid byte sequence for encoding "UTF8": 0x00']]
        )
      })
    )
  }
)

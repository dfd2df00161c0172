import { assert, it } from "@effect/vitest"
import { Effect, Option, References, Tracer } from "effect"
import { requestSpan } from "../src/requestSpan.ts"

const parent = Effect.serviceOption(Tracer.ParentSpan)
const spanned = requestSpan("Example.call")

it.effect("a call that runs for each request has its span where tracing is on", () =>
  Effect.gen(function* () {
    const span = Option.getOrUndefined(yield* spanned(parent))
    assert.strictEqual(span?._tag === "Span" ? span.name : undefined, "Example.call")
  })
)

it.effect("a call that runs for each request makes no span where tracing is off", () =>
  Effect.gen(function* () {
    assert.isTrue(Option.isNone(yield* spanned(parent)))
  }).pipe(Effect.provideService(References.TracerEnabled, false))
)

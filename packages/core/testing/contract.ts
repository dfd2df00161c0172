/**
 * Contracts of ports as data, and the function that runs them with a test runner.
 *
 * A contract is a list of cases: a sentence, and a program over the port. It knows no runner, no clock of a runner and
 * no assertion library; a case fails by dying with an `AssertionError`. `runContract` hands the cases to a runner.
 */
import { Effect, Exit, Layer, Predicate, Scope } from "effect"

/** One demand of a contract. */
export interface Case<R> {
  readonly sentence: string
  readonly check: Effect.Effect<void, unknown, R | Scope.Scope>
}

/** The demands on every adapter of a port. `R` is the port, and the ports that prepare its cases. */
export interface Contract<R> {
  readonly port: string
  readonly cases: ReadonlyArray<Case<R>>
}

type Check<R> = () => Effect.Effect<unknown, unknown, R | Scope.Scope>

/** Collects the cases of a contract in the order in which `define` states them. */
export const contract = <R>(
  port: string,
  define: (it: (sentence: string, check: Check<R>) => void) => void
): Contract<R> => {
  const cases: Array<Case<R>> = []
  define((sentence, check) => cases.push({ sentence, check: Effect.asVoid(Effect.suspend(check)) }))
  return { port, cases }
}

type Hook = (body: () => Promise<void>) => unknown

/** The signal with which a runner aborts a test: vitest and `node:test` pass one with their context. */
const signalOf = (context: unknown): { readonly signal?: AbortSignal } =>
  Predicate.hasProperty(context, "signal") && context.signal instanceof AbortSignal ? { signal: context.signal } : {}

/**
 * The part of a test runner that contracts need. The modules `vitest` and `node:test` are runners as they are, and
 * tests run the contracts under both: `import * as runner from "node:test"`. Jest, Bun and Mocha fit by their form;
 * they have not been tried.
 */
export type TestRunner = {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: (...context: ReadonlyArray<unknown>) => Promise<void>) => unknown
} & ({ readonly beforeAll: Hook; readonly afterAll: Hook } | { readonly before: Hook; readonly after: Hook })

const hooksOf = (runner: TestRunner) =>
  "beforeAll" in runner
    ? { before: runner.beforeAll, after: runner.afterAll }
    : { before: runner.before, after: runner.after }

/**
 * Registers a contract with a runner: a group `<port>: <name>` with one test for each case.
 *
 * The adapter is built once, before the first case, and released after the last. The cases run one after another on the
 * same adapter, so each uses records of its own. A contract gets a fresh adapter: two contracts share no state unless
 * the layer does.
 */
export const runContract = <R, E>(
  runner: TestRunner,
  { cases, port }: Contract<R>,
  name: string,
  adapter: Layer.Layer<R, E>
): void => {
  const { after, before } = hooksOf(runner)
  runner.describe(`${port}: ${name}`, () => {
    const scope = Scope.makeUnsafe()
    const built = Effect.runSync(Effect.cached(Layer.buildWithScope(adapter, scope)))
    before(() => Effect.runPromise(Effect.asVoid(built)))
    after(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    // Pitfall: a named parameter. Jest and Mocha take a test with one for a test with a callback.
    for (const { check, sentence } of cases)
      runner.it(sentence, (...[context]) =>
        Effect.runPromise(
          Effect.flatMap(built, (ports) => Effect.scoped(Effect.provideContext(check, ports))),
          signalOf(context)
        )
      )
  })
}

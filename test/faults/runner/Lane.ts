/**
 * Plants one fault after another and runs its tests: one Vitest, one thread. No file is ever changed; a plugin puts the
 * fault into the text on its way to the tests.
 */
import { resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createVitest, type Reporter, type TestModule, type Vitest } from "vitest/node"
import { type Fault, planted } from "./Fault.ts"
import { KeptThread } from "./KeptThread.ts"

export interface LaneOptions {
  readonly root: string
  /** The values that `test/harness` provides to tests. */
  readonly provided: Readonly<Record<string, unknown>>
}

/** Milliseconds for one test, and for all of a run. */
export interface Limits {
  readonly test: number
  readonly run: number
}

/** How the tests of one run ended. */
export type Outcome =
  /** How long all took, and the slowest. */
  | { readonly _tag: "Passed"; readonly millis: number; readonly slowest: number }
  | { readonly _tag: "Failed"; readonly by: string; readonly message: string }
  | { readonly _tag: "TimedOut"; readonly by: string }
  /** Nothing can be said: a module could not be loaded, or the fault was not in any module that the tests load. */
  | { readonly _tag: "Unusable"; readonly reason: string }

export class Lane {
  readonly #options: LaneOptions
  readonly #thread = new KeptThread()
  readonly #source = new Source()
  readonly #ran = new Ran()
  #vitest: Vitest | undefined

  constructor(options: LaneOptions) {
    this.#options = options
  }

  async #open(): Promise<Vitest> {
    this.#vitest ??= await createVitest(
      {
        root: this.#options.root,
        watch: false,
        reporters: [this.#ran],
        isolate: false,
        pool: this.#thread.pool,
        maxWorkers: 1,
        bail: 1,
        retry: 0,
        // A disk cache goes by the text on disk, which is the same with a fault and without.
        fsModuleCache: false,
        globalSetup: [],
        provide: this.#options.provided,
        teardownTimeout: 1_000
      },
      {
        plugins: [{ name: "planted-fault", enforce: "pre", transform: (text, id) => this.#source.transform(text, id) }]
      }
    )
    return this.#vitest
  }

  /** Runs the tests of a fault with the fault in place, as `run` does. */
  async plant(fault: Fault, limits: Limits): Promise<Outcome> {
    const file = resolve(this.#options.root, fault.file)
    this.#source.plant(file, fault)
    changed(await this.#open(), file)
    const outcome = await this.run(fault.tests, limits)
    const seen = this.#source.clear()
    changed(await this.#open(), file)
    return seen || outcome._tag === "Unusable"
      ? outcome
      : { _tag: "Unusable", reason: "its tests do not load the file" }
  }

  /** Runs test files as the text stands. */
  async run(tests: ReadonlyArray<string>, limits: Limits): Promise<Outcome> {
    const vitest = await this.#open()
    const project = vitest.getRootProject()
    project.config.testTimeout = limits.test
    // Servers start in hooks; how long that takes says nothing about a fault. An endless one is ended by the run's limit.
    project.config.hookTimeout = Math.max(limits.test, limits.run)
    const begun = performance.now()
    const finished = new AbortController()
    const late = sleep(limits.run, undefined, { signal: finished.signal }).catch(() => undefined)
    const running = vitest.runTestSpecifications(
      tests.map((test) => project.createSpecification(resolve(this.#options.root, test)))
    )
    const ended = await Promise.race([running, late]).finally(() => finished.abort())
    if (ended === undefined) {
      await this.#giveUp(vitest)
      return { _tag: "TimedOut", by: `all of ${Math.round(limits.run / 1_000)} s` }
    }
    const { unhandledErrors } = ended
    const outcome = outcomeOf(this.#ran.modules, performance.now() - begun)
    // Work of a test that timed out may go on in the thread.
    if (outcome._tag === "TimedOut") await this.#thread.drop()
    const [unhandled] = unhandledErrors
    return outcome._tag === "Passed" && unhandled !== undefined
      ? { _tag: "Failed", by: "an error outside of any test", message: String(Object(unhandled).message) }
      : outcome
  }

  /** The next run gets a thread that has run nothing. */
  async renew(): Promise<void> {
    await this.#thread.drop()
  }

  async close(): Promise<void> {
    await this.#vitest?.close()
    await this.#thread.drop()
  }

  /**
   * Ends the thread and begins again with another Vitest: the present one may wait without end for a thread that has ended
   * while there were further files to run.
   */
  async #giveUp(vitest: Vitest): Promise<void> {
    this.#vitest = undefined
    await this.#thread.drop()
    vitest.close().catch(() => undefined)
  }
}

const changed = (vitest: Vitest, file: string): void => {
  vitest.invalidateFile(file)
  vitest.watcher.invalidates.add(file)
}

/** The test files of the present run. Vitest's own state still has those of earlier runs. */
class Ran implements Reporter {
  modules: ReadonlyArray<TestModule> = []

  onTestRunStart(): void {
    this.modules = []
  }

  onTestModuleEnd(module: TestModule): void {
    this.modules = [...this.modules, module]
  }
}

/** The text of modules, with at most one fault in it. */
class Source {
  #planted: { readonly file: string; readonly fault: Fault } | undefined
  #seen = false

  plant(file: string, fault: Fault): void {
    this.#planted = { file, fault }
    this.#seen = false
  }

  /** Takes the fault out; was it in a module that was loaded? */
  clear(): boolean {
    this.#planted = undefined
    return this.#seen
  }

  transform(text: string, id: string): string | undefined {
    if (this.#planted === undefined || id.split("?")[0] !== this.#planted.file) return undefined
    const changed = planted(text, this.#planted.fault)
    if (changed === undefined) throw new Error(`The text of ${this.#planted.fault.id} is not there exactly once.`)
    this.#seen = true
    return changed
  }
}

const outcomeOf = (modules: ReadonlyArray<TestModule>, millis: number): Outcome => {
  for (const module of modules) {
    const [broken] = module.errors()
    if (broken !== undefined) return { _tag: "Unusable", reason: `${module.relativeModuleId}: ${broken.message}` }
    for (const suite of module.children.allSuites()) {
      const [failed] = suite.errors()
      if (failed !== undefined) return failure(`${module.relativeModuleId} > ${suite.fullName}`, failed.message)
    }
    for (const test of module.children.allTests("failed")) {
      const [failed] = test.result().errors ?? []
      return failure(`${module.relativeModuleId} > ${test.fullName}`, failed?.message ?? "")
    }
  }
  const passed = modules.flatMap((module) => [...module.children.allTests("passed")])
  const slowest = Math.max(...passed.map((test) => test.diagnostic()?.duration ?? 0))
  return passed.length === 0 ? { _tag: "Unusable", reason: "no test ran" } : { _tag: "Passed", millis, slowest }
}

const failure = (by: string, message: string): Outcome =>
  /timed out in \d+ms/.test(message) ? { _tag: "TimedOut", by } : { _tag: "Failed", by, message }

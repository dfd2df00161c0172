/**
 * The report of a run: progress, each failure with its test's name and line, what was skipped and why, and how to
 * repeat a failure. The output of tests and of the servers under test goes to a file for each test file, which a
 * failure names. `test-results/durations.txt` has the seconds of every file, to load it and to run its tests.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite, Vitest } from "vitest/node"
import { describeError, ownLine } from "./failure.ts"
import { noteMark } from "./note.ts"
import { inCi, requirements } from "./requirements.ts"

type UserConsoleLog = Parameters<NonNullable<Reporter["onUserConsoleLog"]>>[0]

/** Milliseconds between two lines of progress if the output is not a terminal. */
const progressEvery = 20_000
const slowest = 10

interface Place {
  /** Whether it is the first error of its test. Further ones count as the same failure. */
  readonly first?: boolean
  /** The location of the test, for errors without a frame in it. */
  readonly line?: number | undefined
}

const clock = (millis: number): string => {
  const seconds = Math.round(millis / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

const seconds = (millis: number): string => (millis / 1_000).toFixed(1).padStart(6)

const plural = (count: number, word: string) => `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`

/** For a test that failed without an error: an effect that failed with an empty list. */
const withoutError: SerializedError = { message: "The test failed without an error." }

export class Report implements Reporter {
  #root = ""
  #logs = ""
  readonly #seed: string
  #begun = 0
  #files = 0
  #done = 0
  #passed = 0
  #failed = 0
  #timer: NodeJS.Timeout | undefined
  readonly #skipped = new Map<string, number>()
  /** Skipped tests that could run on this machine. */
  #couldRun = 0
  readonly #running = new Set<string>()
  readonly #notes: Array<string> = []
  readonly #out = process.stdout

  constructor(seed: string) {
    this.#seed = seed
  }

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root
    this.#logs = join(this.#root, "test-results", "logs")
    rmSync(this.#logs, { recursive: true, force: true })
    mkdirSync(this.#logs, { recursive: true })
  }

  onTestRunStart(specifications: ReadonlyArray<unknown>): void {
    this.#begun = performance.now()
    this.#files = specifications.length
    this.#say(`Running ${plural(this.#files, "test file")}, seed ${this.#seed}.`)
    this.#timer = setInterval(() => this.#progress(), this.#out.isTTY ? 200 : progressEvery)
    this.#timer.unref()
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(this.#name(module))
  }

  onTestModuleEnd(module: TestModule): void {
    this.#done += 1
    this.#running.delete(this.#name(module))
    for (const error of module.errors()) this.#fail(this.#name(module), "could not be loaded", error)
  }

  onTestSuiteResult(suite: TestSuite): void {
    for (const error of suite.errors()) this.#fail(this.#name(suite.module), suite.fullName, error)
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === "passed") this.#passed += 1
    else if (result.state === "skipped") this.#skip(test)
    else
      for (const [at, error] of (result.errors?.length ? result.errors : [withoutError]).entries())
        this.#fail(this.#name(test.module), test.fullName, error, { first: at === 0, line: test.location?.line })
  }

  onUserConsoleLog({ content, origin, taskId }: UserConsoleLog): void {
    for (const line of content.split("\n")) if (line.startsWith(noteMark)) this.#notes.push(line.slice(noteMark.length))
    const file = (taskId ?? "").length > 0 ? this.#fileOf(taskId ?? "", origin) : "others"
    appendFileSync(this.#logOf(file), content.replaceAll(noteMark, ""))
  }

  #modules = new Map<string, string>()

  onTestModuleCollected(module: TestModule): void {
    const name = this.#name(module)
    this.#modules.set(module.id, name)
    for (const test of module.children.allTests()) this.#modules.set(test.id, name)
    for (const suite of module.children.allSuites()) this.#modules.set(suite.id, name)
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>): void {
    clearInterval(this.#timer)
    this.#clear()
    for (const error of errors) this.#fail("outside of any test", "an error was not handled", error)
    if (this.#done > 1) this.#say(this.#slowest(modules))
    if (this.#notes.length > 0) this.#say(`\nNotes\n${this.#notes.map((note) => `  ${note}`).join("\n")}`)
    if (this.#failed > 0)
      this.#say(`\nRun a failure again: NARTHEX_TEST_SEED=${this.#seed} npm test -- <file> -t "<sentence>"`)
    const skipped = [...this.#skipped.values()].reduce((sum, count) => sum + count, 0)
    if (skipped > 0) this.#say(`\nSkipped: ${this.#reasons()}.`)
    if (this.#couldRun > 0 && inCi()) process.exitCode = 1
    const counts = `${this.#passed} passed, ${this.#failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`
    this.#say(`\n${plural(this.#done, "file")} in ${clock(performance.now() - this.#begun)}\n${counts}`)
  }

  #slowest(modules: ReadonlyArray<TestModule>): string {
    const files = modules
      .map((module) => ({ name: this.#name(module), ...module.diagnostic() }))
      .sort((a, b) => b.duration - a.duration)
    const all = files.map(
      ({ collectDuration, duration, name }) => `${seconds(collectDuration)}  ${seconds(duration)}  ${name}\n`
    )
    writeFileSync(join(this.#root, "test-results", "durations.txt"), all.join(""))
    const lines = files.slice(0, slowest).map(({ duration, name }) => `  ${seconds(duration)} s  ${name}`)
    return `\nThe slowest files\n${lines.join("\n")}`
  }

  #skip(test: TestCase): void {
    const missing = requirements.filter(({ isMet, name }) => test.tags.includes(name) && !isMet())
    const { note } = test.result() as { readonly note?: string } // declared for skipped tests only
    const needs = missing.map(({ how, what }) => `${what} (${how})`).join(" and ")
    const reason = needs === "" ? `(${note || "what comes before failed"})` : `for want of ${needs}`
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1)
    if (!missing.some(({ notInCi }) => notInCi === true)) this.#couldRun += 1
  }

  #reasons(): string {
    return [...this.#skipped].map(([reason, count]) => `${plural(count, "test")} ${reason}`).join("; ")
  }

  #fail(file: string, sentence: string, error: SerializedError, { first = true, line }: Place = {}): void {
    if (first) this.#failed += 1
    this.#clear()
    const log = this.#logOf(file)
    const where = ownLine(error, this.#root) ?? (line === undefined ? file : `${file}:${line}`)
    const lines = [
      `\n✗ ${sentence}`,
      `  ${where}`,
      ...describeError(error).map((line) => `    ${line}`),
      `  What it printed: ${relative(this.#root, log)}`
    ]
    appendFileSync(log, `\n--- ${sentence}\n${error.stack ?? error.message}\n`)
    this.#say(lines.join("\n"))
  }

  #progress(): void {
    const running = [...this.#running].slice(0, 2).join(", ")
    const failed = this.#failed === 0 ? "" : `, ${this.#failed} failed`
    const text = `${clock(performance.now() - this.#begun)}  ${this.#done} of ${plural(this.#files, "file")}, ${plural(this.#passed, "test")} passed${failed}  ${running}`
    this.#clear()
    if (this.#out.isTTY) this.#out.write(text.slice(0, this.#out.columns - 1))
    else this.#say(text)
  }

  #fileOf(task: string, origin: string | undefined): string {
    return this.#modules.get(task) ?? this.#modules.get(task.split("_")[0] ?? "") ?? origin ?? "others"
  }

  #logOf(file: string): string {
    return join(this.#logs, `${file.replaceAll(/[^\w.-]+/g, "_")}.log`)
  }

  #name(module: TestModule): string {
    return module.relativeModuleId
  }

  #clear(): void {
    if (this.#out.isTTY) this.#out.write("\r\u001b[K")
  }

  #say(text: string): void {
    this.#out.write(`${text}\n`)
  }
}

/**
 * `npm run walk`: the README's first ten minutes exactly as written, in a new clone with only Node and npm. It runs
 * `npm start` in a terminal, types the blocks unchanged, on the default ports and the default data directory, kills the
 * platform, starts it again, and stops it with Ctrl-C.
 *
 * `NARTHEX_TEST_CLONE` names the clone. Without it, the last commit is cloned, and the clone is removed at the end.
 *
 * The last line is `N passed, N failed`; after a failure the exit code is 1. However it ends, no process of it is left
 * running.
 */
import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium } from "playwright-core"
import { chromiumLaunch } from "../harness/chromiumLaunch.ts"
import { until } from "../harness/eventually.ts"
import { chromiumPath, inCi } from "../harness/requirements.ts"
import { FirstTerminal } from "./FirstTerminal.ts"
import { Ground, newcomersPath, root } from "./ground.ts"
import { signInWithBrowser } from "./signInWithBrowser.ts"
import { type Stage, type Step, walk } from "./walk.ts"

/** Milliseconds. The first start of a clone compiles every package. */
const buildLimit = 600_000
const ports = [4400, 4401, 4402, 4403, 4409, 5442]
const dataDirectory = join(root, ".narthex")

const clone = () => execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" })

const isFresh = async () => {
  if (existsSync(dataDirectory)) throw new Error(`This is no fresh clone: ${dataDirectory} is there.`)
  for (const port of ports) {
    const server = createServer().listen(port, "127.0.0.1")
    await once(server, "listening").catch(() => {
      throw new Error(`Port ${port} is in use; the README's addresses need it.`)
    })
    await once(server.close(), "close")
  }
}

const npmCache = mkdtempSync(join(tmpdir(), "narthex-npm-"))

/** The caller's environment, without settings of the platform and without what `npm run` adds. */
const own = () => {
  const entries = Object.entries(process.env).filter(([name]) => !/^(NARTHEX_|npm_|INIT_CWD$)/.test(name))
  // A newcomer has downloaded nothing yet.
  return { ...Object.fromEntries(entries), PATH: newcomersPath(), npm_config_cache: npmCache }
}

const withBrowser = chromiumPath() !== undefined || inCi()

const steps = (ground: Ground, before: string): ReadonlyArray<Step> => {
  const first = new FirstTerminal(root, { ...own(), ...ground.mark })
  const { address, openTerminal } = ground.newcomer()
  let pid = 0
  let idle: ReadonlyArray<string> = []

  const start = async () => {
    first.type("npm start")
    const [, said] = await first.shows(
      "npm start to say that it is up",
      /Process +(\d+)[\s\S]*Ctrl-C stops/,
      buildLimit
    )
    pid = Number(said)
  }
  const signIn = async () => {
    const browser = await chromium.launch(chromiumLaunch())
    try {
      await signInWithBrowser(browser, await address(), "ada@example.com")
    } finally {
      await browser.close()
    }
  }
  const stage: Stage = {
    typed: (text) => text,
    openTerminal,
    ...(withBrowser ? { signIn } : {}),
    metrics: async () => (await fetch("http://127.0.0.1:4409/metrics")).text(),
    kill: async () => {
      process.kill(pid, "SIGKILL")
      await first.prompts("kill -9")
    },
    startAgain: start
  }
  const running = () => ground.leftovers().filter((line) => !idle.includes(line))

  return [
    {
      sentence: "npm start. It says that it is up",
      run: async () => {
        await first.prompts("opening the terminal")
        idle = ground.leftovers()
        await start()
      }
    },
    ...walk(readFileSync(join(root, "README.md"), "utf8"), stage),
    {
      sentence: "Ctrl-C. It stops everything",
      run: async () => {
        await ground.closeTerminals()
        assert.ok(running().length > 1, "The platform's processes were not found while it ran.")
        first.interrupt()
        await first.prompts("Ctrl-C")
        const said = first.shown
        assert.doesNotMatch(said.slice(said.lastIndexOf("^C")), /error/i)
        assert.ok([0, 130].includes(await first.status()), said)
        await until("every process of the platform to end", () => running().length === 0).catch((error: Error) => {
          throw new Error(`${error.message} Left:\n${running().join("\n")}`)
        })
      }
    },
    {
      sentence: "The clone. It is as it was before",
      run: async () => assert.equal(clone(), before)
    }
  ]
}

const run = async (): Promise<boolean> => {
  const before = clone()
  await isFresh()
  const ground = new Ground([dataDirectory])
  let passed = 0
  try {
    if (!withBrowser) console.log("Without a browser: there is no chromium.")
    for (const { run, sentence } of steps(ground, before)) {
      const begun = performance.now()
      try {
        await run()
      } catch (error) {
        console.log(`✗ ${sentence}\n${error instanceof Error ? error.message : error}\n${passed} passed, 1 failed`)
        return false
      }
      passed += 1
      console.log(`✓ ${sentence} (${((performance.now() - begun) / 1_000).toFixed(1)} s)`)
    }
  } finally {
    await ground.leave()
    rmSync(npmCache, { recursive: true, force: true })
  }
  console.log(`${passed} passed, 0 failed`)
  return true
}

/** Runs the same program on a new clone. */
const runOnClone = (): number => {
  const folder = mkdtempSync(join(tmpdir(), "narthex-newcomer-"))
  try {
    const clone = join(folder, "narthex")
    execFileSync("git", ["clone", "--quiet", root, clone], { stdio: "inherit" })
    const env = { ...process.env, NARTHEX_TEST_CLONE: clone }
    return spawnSync(process.execPath, [import.meta.filename], { stdio: "inherit", env }).status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const walkClone = () =>
  run().then(
    (passed) => (passed ? 0 : 1),
    (error: unknown) => {
      console.log(`✗ ${error instanceof Error ? error.message : error}\n0 passed, 1 failed`)
      return 1
    }
  )

process.exitCode = process.env["NARTHEX_TEST_CLONE"] === undefined ? runOnClone() : await walkClone()

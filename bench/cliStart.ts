/**
 * CPU time and start-up time of the command line as times of `node -e 0` in the same run: `narthex --version`, `whoami`,
 * `project list` and `--help` with a warm compile cache, and the limits below them: a call of `node:http` alone, and the
 * smallest command of Effect that makes a call (`smallestCall.ts`).
 *
 * `node --conditions=source bench/cliStart.ts [rounds]`. They take turns; the results are ratios of the medians. The
 * server runs in a process of its own and is not counted as CPU. Needs bash, whose `time` counts the CPU of a process.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createControlPlane } from "narthex"
import { bundle } from "../packages/cli/bundle.ts"
import { ratio } from "./ratios.ts"

const rounds = Number(process.argv[2] ?? 31)
const folder = mkdtempSync(join(tmpdir(), "narthex-bench-"))

/** Answers each call with what the paths of `ANSWERS` say, and prints its port. */
const serve = `
  const answers = JSON.parse(process.env.ANSWERS)
  const server = require("node:http").createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost")
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers[pathname]))
  })
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
`

/** The answers of a control plane with one project, to a key. */
const answersOfPlane = async () => {
  await using plane = await createControlPlane()
  const client = plane.client(await plane.sessions.start(await plane.people.ensure({ subject: "ada" })))
  await client.projects.create({ name: "shop" })
  const { secret } = await client.apiKeys.create({ name: "ci" })
  const key = plane.client(secret ?? "")
  return {
    secret: secret ?? "",
    answers: { "/v1/auth/whoami": await key.auth.whoami(), "/v1/projects": await key.projects.list({}) }
  }
}

/** One call as Node alone makes it. */
const bareCall = `
  const url = process.env.NARTHEX_URL + "/v1/auth/whoami"
  require("node:http").get(url, { headers: { authorization: "Bearer " + process.env.NARTHEX_API_KEY } }, (response) => {
    let text = ""
    response.setEncoding("utf8").on("data", (piece) => { text += piece }).on("end", () => {
      console.log(JSON.parse(text).user.id)
      process.exit(0)
    })
  })
`

/** Copies the executable of the command line, which loads the bundle in `../dist`. */
const executableIn = (bin: string) => cpSync(join(import.meta.dirname, "../packages/cli/bin"), bin, { recursive: true })

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const { answers, secret } = await answersOfPlane()
const server = spawn(process.execPath, ["-e", serve], { env: { ANSWERS: JSON.stringify(answers) } })
try {
  const port = String((await once(server.stdout, "data"))[0]).trim()
  const env = { HOME: folder, NARTHEX_URL: `http://127.0.0.1:${port}`, NARTHEX_API_KEY: secret }

  /** Milliseconds of CPU and of the clock. */
  const timed = (args: ReadonlyArray<string>): { readonly cpu: number; readonly clock: number } => {
    const command = ["-c", 'TIMEFORMAT="%U %S %R"; time "$@" > /dev/null', "bash", process.execPath, ...args]
    const { status, stderr } = spawnSync("bash", command, { cwd: folder, env, encoding: "utf8" })
    if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`)
    const [user = 0, system = 0, clock = 0] = stderr.trim().split(" ").map(Number)
    return { cpu: (user + system) * 1000, clock: clock * 1000 }
  }

  writeFileSync(join(folder, "package.json"), '{"type":"module","version":"0.1.0"}')
  const bin = join(folder, "bin", "narthex.js")
  await bundle(join(folder, "dist"))
  executableIn(join(folder, "bin"))
  // The same executable with another program, bundled and cached as the command line is.
  const smallest = join(folder, "smallest", "bin", "narthex.js")
  await bundle(join(folder, "smallest", "dist"), join(import.meta.dirname, "smallestCall.ts"))
  executableIn(join(folder, "smallest", "bin"))

  const commands = {
    "node -e 0": ["-e", "0"],
    "a call of node:http": ["-e", bareCall],
    "the smallest call of Effect": [smallest, "whoami"],
    "narthex --version": [bin, "--version"],
    "narthex whoami": [bin, "whoami"],
    "narthex project list": [bin, "project", "list"],
    "narthex --help": [bin, "--help"]
  }
  for (const args of Object.values(commands)) timed(args)
  const taken = Array.from({ length: rounds }, () => Object.values(commands).map(timed))
  const medians = Object.keys(commands).map((_, at) => ({
    cpu: median(taken.map((round) => round[at]?.cpu ?? 0)),
    clock: median(taken.map((round) => round[at]?.clock ?? 0))
  }))
  const [bare = { cpu: 1, clock: 1 }] = medians
  for (const [at, name] of Object.keys(commands).entries()) {
    const { clock, cpu } = medians[at] ?? bare
    const ratios = `CPU ${(cpu / bare.cpu).toFixed(2)}x, clock ${(clock / bare.clock).toFixed(2)}x`
    console.log(`${name}: ${ratios} (${cpu.toFixed(0)} ms, ${clock.toFixed(0)} ms)`)
    if (name.startsWith("narthex")) ratio(`cliStart/${name.replaceAll(" ", "-")}`, cpu / bare.cpu)
  }
} finally {
  server.kill()
  rmSync(folder, { recursive: true, force: true })
}

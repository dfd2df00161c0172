/**
 * A machine below a directory, as an operator sets it up: `/etc`, `/opt`, `/var/lib` and the places of backups are there, a
 * shell is root's, and units run without systemd.
 *
 * A unit is read from its file: the program gets the environment, the rights and the state directory that it names.
 * Features of a booted systemd, such as control groups and a read-only file system, are left out.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { join } from "node:path"
import { scratchParent } from "../../packages/local-postgres/testing/scratchParent.ts"
import { until, within } from "../harness/eventually.ts"
import { endProcessesIn } from "../support/processesIn.ts"
import { root as clone, inherited } from "./ground.ts"
import { type Printed, Shell } from "./Shell.ts"

/** Places that the pages name, all below the directory of the machine. */
const places = /(?<![\w/.}$])\/(etc|opt|var\/lib|backup|backup-of-secrets)(?=[/\s"';:]|$)/gm

/** systemd and a shell take a value in quotes as it is. */
const unquoted = (value: string) => value.replace(/^'(.*)'$/, "$1")

const settingsOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => /^[A-Z_]+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), unquoted(line.slice(line.indexOf("=") + 1))] as const)

const valuesOf = (unit: string, name: string): ReadonlyArray<string> =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value)

interface Running {
  readonly child: ChildProcess
  readonly log: () => string
}

export class Machine {
  readonly root = realpathSync(mkdtempSync(join(scratchParent(), "narthex-")))
  readonly #shell: Shell
  readonly #running = new Map<string, Running>()

  /** `variables`: what the operator's shell has, for the Postgres of the store. */
  constructor(variables: Readonly<Record<string, string>>) {
    chmodSync(this.root, 0o711) // accounts of branches pass through it
    for (const folder of ["etc/systemd/system", "etc/caddy", "opt", "var/lib"])
      mkdirSync(join(this.root, folder), { recursive: true })
    const path = `${join(clone, "node_modules/.bin")}:${inherited()["PATH"]}`
    this.#shell = new Shell(clone, { ...inherited(), PATH: path, HOME: this.root, ...variables })
  }

  path(place: string): string {
    return join(this.root, place)
  }

  /** A text of the documentation or of a unit, with the places of this machine. */
  here(text: string): string {
    return text.replaceAll(places, `${this.root}/$1`)
  }

  /** Runs the lines of a block in order. The first command that fails ends it. */
  async type(block: string): Promise<string> {
    let printed = ""
    let lines: Array<string> = []
    const flush = async () => {
      if (lines.length > 0) printed += await this.#run(lines.join("\n"))
      lines = []
    }
    for (const line of block.trimEnd().split("\n")) {
      const [, verb, units = ""] = /^systemctl (start|stop|restart|enable --now) (.*)$/.exec(line) ?? []
      if (verb === undefined) lines.push(line)
      else {
        await flush()
        await this.#systemctl(verb, units.split(" "))
      }
    }
    await flush()
    return printed
  }

  async #run(text: string): Promise<string> {
    const { status, stderr, stdout }: Printed = await this.#shell.run(text, `(set -e\n${this.here(text)}\n)`)
    if (status !== 0) throw new Error(`It ended with ${status}:\n${text}\n${stdout}${stderr}`)
    return stdout
  }

  async #systemctl(verb: string, units: ReadonlyArray<string>): Promise<void> {
    for (const unit of units) {
      if (verb === "enable --now") await this.#run(`systemctl --root=${this.root} enable ${unit}`)
      if (verb === "stop" || verb === "restart") await this.stop(unit)
      if (verb !== "stop") await this.#start(unit)
    }
  }

  /** Starts the unit and waits until it says that it is ready. */
  async #start(name: string): Promise<void> {
    const unit = this.here(readFileSync(this.path(`etc/systemd/system/${name}.service`), "utf8"))
    const environment = Object.fromEntries([
      ...Object.entries(inherited()),
      ...valuesOf(unit, "EnvironmentFile").flatMap((file) => settingsOf(readFileSync(file, "utf8"))),
      ...valuesOf(unit, "Environment").flatMap((line) => settingsOf(line.replaceAll(" ", "\n")))
    ])
    delete environment["NARTHEX_CPU_GROUP"] // only systemd gives it
    for (const folder of valuesOf(unit, "StateDirectory"))
      mkdirSync(this.path(`var/lib/${folder}`), { recursive: true, mode: 0o711 })
    const rights = valuesOf(unit, "CapabilityBoundingSet").flatMap((names) => names.toLowerCase().split(" "))
    const bounded = ["-all", ...rights.map((right) => right.replace("cap_", "+"))].join(",")
    const [command = ""] = valuesOf(unit, "ExecStart")
    const args = [`--bounding-set=${bounded}`, "--no-new-privs", ...command.split(" ")]
    const child = spawn("setpriv", args, { env: environment, cwd: "/", stdio: ["ignore", "pipe", "pipe"] })
    let [stdout, log] = ["", ""]
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString()
    })
    this.#running.set(name, { child, log: () => log })
    await until(`${name} to be ready`, () => stdout.includes("\n") || child.exitCode !== null, { limit: 60_000 })
    if (!stdout.includes('"ready":true')) throw new Error(`${name} did not start:\n${stdout}${log}`)
  }

  /** SIGTERM to the main process, as with `KillMode=mixed`. */
  async stop(name: string): Promise<void> {
    const running = this.#running.get(name)
    if (running === undefined || !this.#running.delete(name)) return
    if (running.child.exitCode !== null) throw new Error(`${name} had ended:\n${running.log()}`)
    const ended = once(running.child, "exit")
    running.child.kill("SIGTERM")
    const [code] = await within(`${name} to stop`, ended)
    if (code !== 0) throw new Error(`${name} ended with ${code}:\n${running.log()}`)
  }

  /** Ends what still runs and removes the directory. */
  async remove(): Promise<void> {
    await this.#shell.close()
    for (const { child } of this.#running.values()) child.kill("SIGKILL")
    await endProcessesIn(this.root)
    rmSync(this.root, { recursive: true, force: true })
  }
}

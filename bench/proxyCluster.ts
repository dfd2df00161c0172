/** The environment of the relay benchmark: a Postgres on a Unix socket, and a control plane that resolves to it. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BranchId, EndpointId, ProjectId, RegionId } from "@narthex/core"
import { ControlPlane } from "@narthex/proxy"
import { DateTime, Effect, Layer, Stream } from "effect"
import { role, verifierOf } from "../packages/proxy/test/support/credentials.ts"

export const endpoint_id = EndpointId.make("ep-01k3z6v9e8q0x5m4c2b7n1r0sd")
const project_id = ProjectId.make("prj-01k3z6v9e8q0x5m4c2b7n1r0sd")
/** The endpoint of a project whose allowlist has no address of this machine. */
export const closed_endpoint_id = EndpointId.make("ep-01k3z6v9e8q0x5m4c2b7n1r0se")
const closed_project_id = ProjectId.make("prj-01k3z6v9e8q0x5m4c2b7n1r0se")

/** The directory of postgres and pgbench. */
export const binaries = () => {
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : []
  const newest = versions.sort((a, b) => Number(b) - Number(a)).map((version) => `/usr/lib/postgresql/${version}/bin`)
  const found = newest.find((bin) => ["postgres", "initdb", "pgbench"].every((name) => existsSync(join(bin, name))))
  if (found === undefined) throw new Error("the benchmark needs postgres, initdb and pgbench")
  return found
}

const verifier = verifierOf(role)

/**
 * A cluster whose superuser `role` proves its password, through the proxy and directly. The superuser `app`, as whom stores
 * are read, needs none on the socket: an older checkout that takes turns sends none.
 */
export const startCluster = async (bin: string) => {
  const root = mkdtempSync(join(tmpdir(), "narthex-bench-"))
  chmodSync(root, 0o755)
  const data = join(root, "data")
  mkdirSync(data)
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  const identity = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : undefined
  const socket = join(root, "g1")
  mkdirSync(socket)
  for (const path of [data, socket]) if (identity !== undefined) chownSync(path, identity.uid, identity.gid)
  const as = { ...identity, cwd: root }
  const pwfile = join(root, "password")
  writeFileSync(pwfile, verifier)
  execFileSync(join(bin, "initdb"), ["-D", data, "-A", "scram-sha-256", `--pwfile=${pwfile}`, "-U", role, "-N"], {
    ...as,
    stdio: "pipe"
  })
  const rules = join(data, "pg_hba.conf")
  writeFileSync(rules, `local all app trust\n${readFileSync(rules, "utf8")}`)
  execFileSync(join(bin, "postgres"), ["--single", "-D", data, "postgres"], {
    ...as,
    input: "create role app superuser login\n",
    stdio: ["pipe", "ignore", "pipe"]
  })
  const flags = [
    "-c",
    "listen_addresses=",
    "-c",
    `unix_socket_directories=${socket}`,
    "-c",
    "fsync=off",
    "-c",
    "max_connections=300"
  ]
  const child = spawn(join(bin, "postgres"), ["-D", data, ...flags], { ...as, stdio: "ignore" })
  const pidFile = join(data, "postmaster.pid")
  const ready = () => existsSync(pidFile) && readFileSync(pidFile, "utf8").split("\n")[7]?.trim() === "ready"
  while (!ready()) await new Promise((resume) => setTimeout(resume, 5))
  const stop = async () => {
    const exit = once(child, "exit")
    child.kill("SIGINT")
    await exit
    rmSync(root, { recursive: true, force: true })
  }
  return { socket, address: join(socket, ".s.PGSQL.5432"), pid: child.pid ?? 0, stop }
}

/**
 * The always active endpoint has one rule, so that the allowlist is checked as in production; the other refuses all.
 */
export const controlPlane = (address: string) =>
  Layer.succeed(ControlPlane, {
    resolve: (id) =>
      Effect.succeed({
        endpoint_id: id,
        project_id: id === endpoint_id ? project_id : closed_project_id,
        branch_id: BranchId.make("br-bench"),
        region_id: RegionId.make("local"),
        disabled: false,
        current_state: "active",
        address,
        generation: 1,
        verifier
      }),
    allowlists: (projects) =>
      Effect.map(DateTime.now, (now) =>
        projects.map((id) => ({
          project_id: id,
          version: 1,
          rules: [{ cidr: id === project_id ? "127.0.0.0/8" : "192.0.2.0/24", expires_at: null }],
          server_now: DateTime.formatIso(now)
        }))
      ),
    changes: Effect.succeed(Stream.never),
    wake: () => Effect.succeed({ address, generation: 1 }),
    cancel: () => Effect.void,
    activity: () => Effect.void,
    refusals: () => Effect.void
  })

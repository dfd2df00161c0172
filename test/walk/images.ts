/**
 * Images that stand in for those of a public registry, made from Debian's packages: Node with npm, Postgres, and Caddy.
 *
 * Node's image trusts the authorities of this machine and `authority`.
 */
import { execFile } from "node:child_process"
import { appendFileSync, copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { programPath } from "../harness/requirements.ts"

export const images = {
  node: "localhost/narthex-test-node",
  db: "localhost/narthex-test-db",
  caddy: "localhost/narthex-test-caddy"
}

const execute = promisify(execFile)

/** Milliseconds. The longest program installs the packages of an image on a loaded machine. */
const timeout = 600_000

/** Where a program runs. Without them, in the directory and with the variables of this process. */
export interface Surroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The output of a program. Rejects with its errors when it fails. */
export const run = async (program: string, args: ReadonlyArray<string>, { cwd, env }: Surroundings = {}) => {
  const options = {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    timeout,
    maxBuffer: 1 << 26
  }
  const { stdout } = await execute(program, args, options)
  return stdout
}

const authorities = "etc/ssl/certs/ca-certificates.crt"

/** Debian without packages that containers do not need, with Node and npm of this machine. */
const nodeImage = async (folder: string, authority: string) => {
  const debian = join(folder, "debian")
  await run("debootstrap", ["--variant=minbase", "--include=ca-certificates", "bookworm", debian])
  copyFileSync(process.execPath, join(debian, "usr/local/bin/node"))
  const npm = realpathSync(programPath("npm") ?? "")
  mkdirSync(join(debian, "usr/local/lib/node_modules"), { recursive: true })
  cpSync(dirname(dirname(npm)), join(debian, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true })
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(debian, "usr/local/bin/npm"))
  copyFileSync(`/${authorities}`, join(debian, authorities))
  appendFileSync(join(debian, authorities), authority)
  const archive = join(folder, "debian.tar")
  await run("tar", ["-C", debian, "-cf", archive, "."])
  await run("podman", ["import", "--change", `ENV NODE_EXTRA_CA_CERTS=/${authorities}`, archive, images.node])
}

/** The work of the entry point of the public image, for the variables of the compose file. */
const startPostgres = `set -eu
data=/var/lib/postgresql/data/15
if [ ! -e $data/PG_VERSION ]; then
  initdb -D $data -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 --encoding=UTF8
  echo "host all all all scram-sha-256" >> $data/pg_hba.conf
  echo "create database \\"$POSTGRES_USER\\"" | postgres --single -D $data postgres
fi
exec postgres -D $data -c listen_addresses='*'
`

const built = (folder: string, name: string, containerfile: string) => {
  writeFileSync(join(folder, "Containerfile"), containerfile)
  return run("podman", ["build", "--network", "host", "--tag", name, folder])
}

/** Makes the three images. `folder` is empty, and not on a file system that is mounted without devices. */
export const makeImages = async (folder: string, authority: string) => {
  await nodeImage(folder, authority)
  const context = join(folder, "context")
  mkdirSync(context)
  writeFileSync(join(context, "start.sh"), startPostgres)
  await built(
    context,
    images.db,
    `FROM ${images.node}
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql-15
RUN rm -rf /var/lib/postgresql && install -d -o postgres -g postgres /var/lib/postgresql/data /run/postgresql
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
COPY start.sh /start.sh
VOLUME /var/lib/postgresql/data
USER postgres
CMD ["sh", "/start.sh"]
`
  )
  copyFileSync(programPath("caddy") ?? "", join(context, "caddy"))
  await built(
    context,
    images.caddy,
    `FROM ${images.node}
COPY caddy /usr/bin/caddy
ENV XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]
`
  )
}

/**
 * nginx and Caddy in front of the API, as docs/operating/event-streams.md configures them: streams arrive at once. Tests of
 * a proxy that is not installed are skipped, and say so.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestApi } from "../support/wire.ts"
import { RawStream, requestText } from "./support/RawStream.ts"
import { counting, somebody, state, streamApi } from "./support/streamApi.ts"

const page = readFileSync(join(import.meta.dirname, "../../../../docs/operating/event-streams.md"), "utf8")
const documented = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ""

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

const listens = (port: number) =>
  new Promise<boolean>((done) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      done(true)
    })
    socket.once("error", () => done(false))
  })

const nginx = (location: string, port: number, directory: string) => `
worker_processes 1;
pid ${directory}/pid;
error_log stderr warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  server {
    listen 127.0.0.1:${port};
    ${location}
  }
}`

const caddy = (site: string, port: number) => `
{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  ${site}
}`

interface Front {
  readonly name: string
  readonly program: string
  readonly config: (port: number, directory: string) => string
  readonly args: (file: string, directory: string) => ReadonlyArray<string>
}

const nginxArgs = (file: string, directory: string) => [
  "-c",
  file,
  "-p",
  directory,
  "-e",
  "stderr",
  "-g",
  "daemon off;"
]

const fronts: ReadonlyArray<Front> = [
  {
    name: "nginx as documented",
    program: "nginx",
    config: (port, directory) => nginx(documented("nginx"), port, directory),
    args: nginxArgs
  },
  {
    name: "nginx with nothing but proxy_pass",
    program: "nginx",
    config: (port, directory) => nginx("location / { proxy_pass http://127.0.0.1:8080; }", port, directory),
    args: nginxArgs
  },
  {
    name: "Caddy as documented",
    program: "caddy",
    config: (port) => caddy(documented("caddyfile"), port),
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file]
  }
]

const installed = (program: string) => spawnSync(program, ["-h"]).error === undefined

/** The proxy, listening, in front of a port. */
const running = ({ args, config, program }: Front, upstream: number) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-front-"))),
      (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
    )
    const port = yield* Effect.promise(freePort)
    const file = join(directory, "config")
    const text = config(port, directory).replaceAll("127.0.0.1:8080", `127.0.0.1:${upstream}`)
    yield* Effect.promise(() => writeFile(file, text))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(program, args(file, directory), {
          stdio: ["ignore", "ignore", "pipe"],
          env: { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory }
        })
      ),
      (started) =>
        Effect.promise(async () => {
          if (started.exitCode !== null) return
          started.kill("SIGTERM")
          await once(started, "exit")
        })
    )
    let said = ""
    child.stderr.on("data", (chunk) => {
      said += chunk
    })
    const up = Effect.promise(() => listens(port)).pipe(
      Effect.tap(() => (child.exitCode === null ? Effect.void : Effect.die(new Error(`${program} ended: ${said}`))))
    )
    yield* Effect.repeat(Effect.delay(up, 20), { until: (it) => it }).pipe(Effect.timeout("15 seconds"))
    return port
  })

layer(streamApi({ heartbeat: Duration.millis(300) }), { excludeTestServices: true })(
  "a stream through a proxy",
  (it) => {
    for (const front of fronts) {
      const there = installed(front.program)
      const name = there ? front.name : `${front.name} (skipped: ${front.program} is not installed)`
      it.effect.skipIf(!there)(
        name,
        () =>
          Effect.gen(function* () {
            const upstream = yield* TestApi
            const port = yield* running(front, upstream.port)
            const { org, token } = yield* somebody(`${front.name.replaceAll(" ", "-")}@example.com`)
            const stream = yield* Effect.acquireRelease(
              Effect.sync(() => new RawStream(port, requestText({ token, headers: ["Accept: text/event-stream"] }))),
              ({ socket }) => Effect.sync(() => socket.destroy())
            )
            yield* stream.until("open", ({ text }) => text.startsWith(": ok\n"))
            assert.isBelow((stream.firstByteAt ?? Number.NaN) - stream.openedAt, 1_000)
            assert.strictEqual(stream.header("content-type"), "text/event-stream; charset=utf-8")
            for (let n = 1; n <= 5; n++) {
              const committed = performance.now()
              yield* state(org, counting(n, 1))
              yield* stream.until("the event", ({ events }) => events.length === n)
              assert.isBelow(performance.now() - committed, 1_000)
            }
            const { length } = stream.text
            yield* stream.until("a heartbeat", ({ text }) => /\n:\n/.test(text.slice(length - 1)))

            const last = stream.events[2]?.id
            const back = yield* Effect.acquireRelease(
              Effect.sync(() => new RawStream(port, requestText({ token, headers: [`Last-Event-ID: ${last}`] }))),
              ({ socket }) => Effect.sync(() => socket.destroy())
            )
            yield* back.until("a replay", ({ events }) => events.length === 2)
          }),
        60_000
      )
    }
  }
)

/**
 * nginx and Caddy in front of the API, as docs/operating/event-streams.md configures them: nothing waits in them for what
 * comes behind it.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { eventually, within } from "../../../../test/harness/eventually.ts"
import { programPath } from "../../../../test/harness/requirements.ts"
import { blocksRunBy } from "../../../../test/support/documentedBlocks.ts"
import { Ahead } from "../support/apiOver.ts"
import { TestApi } from "../support/wire.ts"
import { RawStream, requestText } from "./support/RawStream.ts"
import { counting, signedIn, state, stillApi } from "./support/streamApi.ts"

const blocks = blocksRunBy("packages/http/test/events/reverseProxies.test.ts")
const documented = (language: string) => blocks.find((block) => block.language === language)?.text ?? ""

/** The proxies listen on a file of the test's own: a port that is free now may be taken when they start. */
const socketIn = (directory: string) => join(directory, "socket")

const listens = (path: string) =>
  new Promise<boolean>((done) => {
    const socket = connect(path)
    socket.once("connect", () => {
      socket.destroy()
      done(true)
    })
    socket.once("error", () => done(false))
  })

const nginx = (location: string, directory: string) => `
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
    listen unix:${socketIn(directory)};
    ${location}
  }
}`

/** Without a grace period it would wait for streams whose clients are gone, which it notices with the next heartbeat. */
const caddy = (site: string, directory: string) => `
{
  admin off
  auto_https off
  grace_period 1ms
}
http:// {
  bind unix/${socketIn(directory)}
  ${site}
}`

interface Front {
  readonly name: string
  readonly program: "nginx" | "caddy"
  readonly config: (directory: string) => string
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
    config: (directory) => nginx(documented("nginx"), directory),
    args: nginxArgs
  },
  {
    name: "nginx with nothing but proxy_pass",
    program: "nginx",
    config: (directory) => nginx("location / { proxy_pass http://127.0.0.1:8080; }", directory),
    args: nginxArgs
  },
  {
    name: "Caddy as documented",
    program: "caddy",
    config: (directory) => caddy(documented("caddyfile"), directory),
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file]
  }
]

/** The proxy, listening, in front of a port. */
const running = ({ args, config, program }: Front, upstream: number) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-front-"))),
      (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
    )
    const file = join(directory, "config")
    const text = config(directory).replaceAll("127.0.0.1:8080", `127.0.0.1:${upstream}`)
    yield* Effect.promise(() => writeFile(file, text))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(programPath(program) ?? program, args(file, directory), {
          stdio: ["ignore", "ignore", "pipe"],
          env: { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory }
        })
      ),
      (started) =>
        Effect.promise(async () => {
          if (started.exitCode !== null || started.signalCode !== null) return
          const ended = once(started, "exit")
          started.kill("SIGTERM")
          await within(`the end of ${program}`, ended)
        })
    )
    let said = ""
    child.stderr.on("data", (chunk) => {
      said += chunk
    })
    const up = Effect.promise(() => listens(socketIn(directory))).pipe(
      Effect.tap(() => (child.exitCode === null ? Effect.void : Effect.die(new Error(`${program} ended: ${said}`))))
    )
    yield* eventually(`${program} to listen`, up, { every: 20 })
    return socketIn(directory)
  })

const connected = (at: string, token: string, headers: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => new RawStream(at, requestText({ token, headers }))),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** Nothing but what the test commits moves bytes along: the clock stands still, so no heartbeat pushes what a proxy holds. */
layer(stillApi({ heartbeat: Duration.millis(200) }), { excludeTestServices: true })(
  "a stream through a proxy",
  (it) => {
    for (const front of fronts)
      it.effect(
        front.name,
        () =>
          Effect.gen(function* () {
            const upstream = yield* TestApi
            const { by } = yield* Ahead
            const at = yield* running(front, upstream.port)
            const { org, token } = yield* signedIn(`${front.name.replaceAll(" ", "-")}@example.com`)
            const stream = yield* connected(at, token, ["Accept: text/event-stream"])
            yield* stream.until("open", ({ text }) => text.startsWith(": ok\n"))
            assert.strictEqual(stream.header("content-type"), "text/event-stream; charset=utf-8")
            for (let n = 1; n <= 5; n++) {
              yield* state(org, counting(n, 1))
              yield* stream.until(`event ${n}, which nothing follows`, ({ events }) => events.length === n)
            }
            const { text } = stream
            yield* by("1 second")
            yield* stream.until("a heartbeat", (it) => it.text.length > text.length)
            assert.strictEqual(stream.text, `${text}:\n`)

            const back = yield* connected(at, token, [`Last-Event-ID: ${stream.events[2]?.id}`])
            yield* back.until("a replay", ({ events }) => events.length === 2)
          }),
        { tags: [front.program] }
      )
  }
)

/**
 * The page about containers, typed as it stands: the image is built, the compose file starts a platform, a person uses it,
 * and containers are killed. Holds docs/operating/containers.md.
 *
 * The machine has no registry of images, so podman builds the public ones from Debian's packages (`images.ts`).
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { eventually } from "../harness/eventually.ts"
import { clientId, issuerThat } from "../serving/support/Issuer.ts"
import { blocksRunBy } from "../support/documentedBlocks.ts"
import { root } from "./ground.ts"
import { images, makeImages, run, type Surroundings } from "./images.ts"
import { person } from "./person.ts"
import { stablePorts } from "./stablePorts.ts"

const [build, secrets, start] = blocksRunBy("test/walk/containers.long.ts").map(({ text }) => text)

/** The commands of podman for those of Docker on the page. */
const withPodman = (text = "") =>
  text
    .replace("docker build", `podman build --format docker --network host --build-arg NODE_IMAGE=${images.node}`)
    .replaceAll("docker compose", "podman-compose")
    .replace("DOMAIN=example.com", "DOMAIN=localhost")

/** A certificate for `name` that is its own authority, and its key. */
const certificate = async (folder: string, file: string, name: string) => {
  const [cert, key] = [join(folder, `${file}.crt`), join(folder, `${file}.key`)]
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
  const names = ["-subj", "/CN=test", "-addext", `subjectAltName=DNS:${name}`]
  await run("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", cert])
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") }
}

/** The name of this machine in containers. */
const host = "host.containers.internal"

const containers = ["db", "caddy", "api-1", "api-2", "console", "runner", "proxy"] as const
const named = (service: string) => `deploy_${service}_1`
const programs = containers.filter((service) => service !== "db" && service !== "caddy")

const ran = (program: string, args: ReadonlyArray<string>, surroundings: Surroundings = {}) =>
  Effect.promise(() => run(program, args, surroundings))

const inspected = (service: string, format: string) =>
  Effect.map(ran("podman", ["inspect", "--format", format, named(service)]), (text) => text.trim())

const answersReady =
  "fetch('http://127.0.0.1:4409/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"

/** Whether the command succeeds in a container. It fails in one that has not started. */
const succeedsIn = (service: string, ...command: ReadonlyArray<string>) =>
  Effect.promise(() =>
    run("podman", ["exec", named(service), ...command]).then(
      () => true,
      () => false
    )
  )

/** Each program serves. The proxy is healthy before that, while it waits for the API. */
const allReady = Effect.forEach(programs, (service) =>
  eventually(`${service} to be ready`, succeedsIn(service, "node", "-e", answersReady), { every: 500, limit: 120_000 })
)

const allHealthy = Effect.forEach(programs, (service) => ran("podman", ["healthcheck", "run", named(service)]))

const killed = (service: string) => ran("podman", ["kill", "--signal", "KILL", named(service)])

/** A copy of `deploy`, an identity provider that containers reach, and the images of the registry. */
const operator = Effect.gen(function* () {
  const folder = mkdtempSync(join(tmpdir(), "narthex-containers-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  const authority = yield* Effect.promise(() => certificate(folder, "issuer", host))
  const issuer = yield* issuerThat((answer) => {
    const server = createServer(authority, answer)
    return Effect.acquireRelease(
      Effect.callback<string>((resume) => {
        server.listen(0, () => {
          // The server listens on no pipe, so its address has a port.
          resume(Effect.succeed(`https://${host}:${(server.address() as AddressInfo).port}`))
        })
      }),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
  })
  const work = join(folder, "images")
  mkdirSync(work)
  yield* Effect.promise(() => makeImages(work, authority.cert))

  const deploy = join(folder, "deploy")
  cpSync(join(root, "deploy"), deploy, { recursive: true })
  const [proxy = 0, https = 0] = yield* Effect.promise(() => stablePorts(2))
  const file = join(deploy, "compose.yaml")
  const ports = readFileSync(file, "utf8")
    .replace(`"80:80", "443:443", "443:443/udp"`, `"${https}:443"`)
    .replace(`"5442:5442"`, `"127.0.0.1:${proxy}:5442"`)
  writeFileSync(file, ports)
  const env = { POSTGRES_IMAGE: images.db, CADDY_IMAGE: images.caddy, NARTHEX_IMAGE: "localhost/narthex" }
  const type = (block: string, cwd = deploy) => ran("bash", ["-euc", block], { cwd, env })
  return { folder, deploy, https, issuer, proxy, type }
})

describe("containers", { tags: ["root", "podman", "caddy", "openssl", "psql"], timeout: 1_800_000 }, () => {
  it.live("the image and the compose file run a platform that survives the loss of its containers", () =>
    Effect.gen(function* () {
      const { deploy, folder, https, issuer, proxy, type } = yield* operator
      yield* type(withPodman(build), root)
      yield* type(withPodman(secrets), folder)
      const provider = { id: "test", name: "Test", issuer: issuer.url, client_ids: [clientId] }
      const own = join(deploy, "secrets")
      writeFileSync(join(own, "providers.json"), JSON.stringify([provider]))
      yield* Effect.promise(() => certificate(own, "db", "*.local.db.localhost"))
      chmodSync(join(own, "db.key"), 0o444)
      yield* Effect.addFinalizer(() => type("podman-compose down --volumes"))
      yield* type(withPodman(start))
      yield* allReady
      yield* allHealthy

      for (const service of programs) {
        assert.strictEqual(yield* inspected(service, "{{.HostConfig.ReadonlyRootfs}}"), "true")
        const isRoot = service === "runner" || service === "proxy"
        assert.strictEqual(yield* inspected(service, "{{.Config.User}}"), isRoot ? "0:0" : "1000:1000")
      }

      const authorities = yield* ran("podman", [
        "exec",
        named("caddy"),
        "cat",
        `/data/caddy/pki/authorities/local/root.crt`
      ])
      writeFileSync(join(folder, "root.crt"), authorities)
      const names = ["api", "console"].flatMap((name) => ["--resolve", `${name}.localhost:${https}:127.0.0.1`])
      const trusting = ["--fail", "--silent", "--cacert", join(folder, "root.crt"), ...names]
      const fetched = (name: string, path: string) =>
        ran("curl", [...trusting, `https://${name}.localhost:${https}${path}`])
      assert.include(yield* fetched("api", "/v1/auth/providers"), '"test"')
      assert.include(yield* fetched("console", "/"), "Narthex")

      const internal = yield* inspected("caddy", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}")
      const ada = yield* person({ address: `http://${internal}:8080`, issuer, proxy, type })
      yield* ada.psql("create table t as select 42 as answer")
      // Until the new runner has looked at what runs, a session may be told to try again in a few seconds.
      const answered = Effect.map(
        Effect.exit(ada.psql("select answer from t")),
        (exit) => Exit.isSuccess(exit) && exit.value.trim() === "42"
      )

      yield* killed("api-1")
      assert.deepStrictEqual(yield* ada.projects(ada.token), ["shop"])
      yield* killed("runner")
      yield* type("podman-compose up --detach")
      yield* allReady
      yield* eventually("the row to be there", answered, { every: 500 })

      yield* type("podman-compose down")
      yield* type("podman-compose up --detach")
      yield* allReady
      yield* eventually("the row to be there", answered, { every: 500 })
    }).pipe(Effect.scoped)
  )
})

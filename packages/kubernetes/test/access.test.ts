/** How the driver logs in to an API server (docs/design/kubernetes.md K25). */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { type ApiAccess, accessOf, findAccess, type KubernetesUnusable } from "@narthex/kubernetes"
import { Effect } from "effect"
import { openApiClient } from "../src/api/ApiClient.ts"
import { namespaces } from "../src/objects/resources.ts"
import { signClient } from "./support/cluster/authority.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-access-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The number of namespaces that the API server lists, or its status. */
const asked = (access: ApiAccess) =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* openApiClient(access)
      const listed = client.list(namespaces, { namespace: null })
      return yield* Effect.match(listed, { onSuccess: ({ items }) => items.length, onFailure: ({ status }) => status })
    })
  )

const refusal = (kubeconfig: object) =>
  Effect.map(Effect.flip(accessOf(JSON.stringify(kubeconfig))), ({ message }: KubernetesUnusable) => message)

const base64 = (text: string) => Buffer.from(text).toString("base64")

describe("access to an API server", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(KubernetesDouble.layer, { excludeTestServices: true })((it) => {
    it.effect("a pod's token is read at each call, because it changes", () =>
      Effect.gen(function* () {
        const { api, serviceAccount } = yield* KubernetesDouble
        const mounted = yield* directory
        const put = (name: string, text: string) => Effect.promise(() => writeFile(join(mounted, name), text))
        yield* put("ca.crt", serviceAccount.ca)
        yield* put("token", `${serviceAccount.token}\n`)
        yield* put("namespace", "platform")
        const { hostname, port } = new URL(serviceAccount.url)
        const surroundings = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
        const access = yield* findAccess(surroundings, mounted)
        assert.deepStrictEqual([access.ownNamespace, yield* asked(access)], ["platform", 2])
        api.tokens.delete(serviceAccount.token)
        assert.strictEqual(yield* asked(access), 401)
        api.tokens.add("renewed")
        yield* put("token", "renewed\n")
        assert.strictEqual(yield* asked(access), 2)
        api.tokens.add(serviceAccount.token)
      })
    )

    it.effect("a kubeconfig in KUBECONFIG logs in by its token or its client certificate, in files beside it", () =>
      Effect.gen(function* () {
        const { authority, kubeconfig, serviceAccount } = yield* KubernetesDouble
        const folder = yield* directory
        const at = (name: string) => join(folder, name)
        yield* Effect.promise(() => writeFile(at("config"), kubeconfig))
        assert.strictEqual(yield* asked(yield* findAccess({ KUBECONFIG: at("config") })), 2)
        const { cert, key } = yield* Effect.promise(() => signClient(authority, "runner"))
        const files = { "ca.crt": serviceAccount.ca, "client.crt": cert, "client.key": key }
        for (const [name, text] of Object.entries(files)) yield* Effect.promise(() => writeFile(at(name), text))
        const written = {
          "current-context": "c",
          clusters: [{ name: "k", cluster: { server: serviceAccount.url, "certificate-authority": "ca.crt" } }],
          users: [{ name: "u", user: { "client-certificate": "client.crt", "client-key": "client.key" } }],
          contexts: [{ name: "c", context: { cluster: "k", user: "u" } }]
        }
        yield* Effect.promise(() => writeFile(at("files"), JSON.stringify(written)))
        assert.strictEqual(yield* asked(yield* findAccess({ KUBECONFIG: `${at("files")}:${at("config")}` })), 2)
      })
    )

    it.effect("a server of another authority is not trusted", () =>
      Effect.gen(function* () {
        const { serviceAccount } = yield* KubernetesDouble
        const access = yield* accessOf(
          JSON.stringify({
            "current-context": "c",
            clusters: [{ name: "k", cluster: { server: serviceAccount.url } }],
            users: [{ name: "u", user: { token: serviceAccount.token } }],
            contexts: [{ name: "c", context: { cluster: "k", user: "u" } }]
          })
        )
        assert.strictEqual(yield* asked(access), 0)
      })
    )

    it.effect("a kubeconfig that skips verification, runs a program or names nothing is refused in words", () =>
      Effect.gen(function* () {
        const written = (cluster: object, user: object = {}, context = "c") => ({
          "current-context": context,
          clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1", ...cluster } }],
          users: [{ name: "u", user }],
          contexts: [{ name: "c", context: { cluster: "k", user: "u" } }]
        })
        const exec = { exec: { command: "aws" } }
        assert.include(yield* refusal(written({ "insecure-skip-tls-verify": true })), "certificate-authority")
        assert.include(yield* refusal(written({ "certificate-authority-data": base64("x") }, exec)), "kubectl proxy")
        assert.include(yield* refusal(written({}, {}, "other")), "current-context")
        const plain = written({ server: "http://192.0.2.1:8001" }, { token: "t" })
        assert.include(yield* refusal(plain), "in plain text")
        const { message } = yield* Effect.flip(findAccess({}))
        assert.include(message, "KUBECONFIG")
      })
    )
  })
)

/** The Helm chart: its manifests are valid, their pods have no rights, and the programs start with its settings. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Schema } from "effect"
import { Yaml } from "effect/encoding"
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { Job } from "kubernetes-models/batch/v1/Job"
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { ClusterRole } from "kubernetes-models/rbac.authorization.k8s.io/v1/ClusterRole"
import { ClusterRoleBinding } from "kubernetes-models/rbac.authorization.k8s.io/v1/ClusterRoleBinding"
import { Role } from "kubernetes-models/rbac.authorization.k8s.io/v1/Role"
import { RoleBinding } from "kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding"
import { Namespace } from "kubernetes-models/v1/Namespace"
import { Service } from "kubernetes-models/v1/Service"
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount"
import { writeCertificate } from "../packages/proxy/test/support/harness.ts"
import { loadSettings } from "../packages/server/src/settings/Settings.ts"
import { secret } from "../packages/server/test/settings/environment.ts"
import { blocksRunBy } from "./support/documentedBlocks.ts"

const chart = join(import.meta.dirname, "../deploy/chart")
const given = ["domain=example.com", "image.repository=registry.example.com/narthex"]
  .concat("computes.options.storage_class=fast", "computes.options.snapshot_class=fast-snapshots")
  .flatMap((value) => ["--set", value])

const Named = Schema.Struct({ name: Schema.String, value: Schema.optionalKey(Schema.String) })
const Container = Schema.Struct({
  command: Schema.Array(Schema.String),
  env: Schema.Array(Named),
  ports: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String }))),
  securityContext: Schema.Unknown
})
const Pod = Schema.Struct({
  metadata: Schema.Struct({ labels: Schema.Record(Schema.String, Schema.String) }),
  spec: Schema.Struct({
    automountServiceAccountToken: Schema.optionalKey(Schema.Boolean),
    enableServiceLinks: Schema.Boolean,
    securityContext: Schema.Struct({ runAsNonRoot: Schema.Boolean, runAsUser: Schema.Int }),
    containers: Schema.Array(Container)
  })
})
const Manifest = Schema.StructWithRest(
  Schema.Struct({
    kind: Schema.String,
    metadata: Schema.Record(Schema.String, Schema.Unknown),
    spec: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
type Manifest = typeof Manifest.Type

const documents = (yaml: string) =>
  yaml
    .split(/^---$/m)
    .filter((text) => /^kind:/m.test(text))
    .map((text) => Schema.decodeUnknownSync(Manifest)(Yaml.parse(text)))

/** The manifests of the chart with these values. */
const rendered = (...values: ReadonlyArray<string>) =>
  documents(execFileSync("helm", ["template", "narthex", chart, ...given, ...values], { encoding: "utf8" }))

/** The rules of cluster roles by their names. */
const rights = (manifests: ReadonlyArray<Manifest>) =>
  manifests
    .filter(({ kind }) => kind === "ClusterRole")
    .map(({ metadata, rules }) => ({ name: metadata["name"], rules }))

const podsOf = (manifests: ReadonlyArray<Manifest>) =>
  manifests.flatMap(({ kind, metadata, spec }) =>
    kind === "Deployment" || kind === "Job"
      ? [{ name: String(metadata["name"]), ...Schema.decodeUnknownSync(Pod)(spec?.["template"]) }]
      : []
  )

const kinds = {
  ...{
    Deployment,
    Job,
    Ingress,
    NetworkPolicy,
    PodDisruptionBudget,
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding
  },
  ...{ Namespace, Service, ServiceAccount }
}
const isKind = (kind: string): kind is keyof typeof kinds => kind in kinds

/** Files for the variables that name one, with a content that can be read. */
const contents = (folder: string): Readonly<Record<string, string>> => {
  const texts = {
    database_url: "postgresql://narthex@db.example.com/narthex",
    master: secret,
    console: secret,
    proxy: secret,
    providers: readFileSync(join(chart, "../providers.json"), "utf8")
  }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const path = join(folder, name)
      writeFileSync(path, text)
      return [name, path]
    })
  )
}

/**
 * The text of a page, in a directory with its files. Without a cluster `kubectl` prints what it would make, and `helm` what
 * it would install.
 */
const typed = (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), "narthex-chart-"))
  try {
    contents(folder)
    renameSync(join(folder, "providers"), join(folder, "providers.json"))
    for (const name of ["db", "web"])
      writeCertificate({ cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) }, name)
    symlinkSync(join(chart, ".."), join(folder, "deploy"))
    const offline = `set -e
      kubectl() { echo ---; command kubectl "$@" --dry-run=client --output=yaml; }
      helm() { shift; command helm template "$@"; }`
    return execFileSync("bash", ["-c", `${offline}\n${text}`], { cwd: folder, encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the chart", { tags: ["helm"] }, () => {
  const layouts = {
    "as it is": [],
    "with a namespace for each organization, monitoring and PROXY protocol": [
      ...["--set", "computes.options.per_organization=true", "--set", "podMonitor=true"],
      ...["--set-json", 'networkPolicy.monitoring={"namespaceSelector":{}}'],
      ...["--set-json", 'proxy.trusted=["10.0.0.0/8"]'],
      ...["--set-json", 'proxy.service.annotations={"load-balancer/proxy-protocol":"true"}']
    ],
    "of a further region": [
      "--set",
      "api.enabled=false,console.enabled=false,ingress.enabled=false,region=north"
    ].concat(["--set", "api.internalUrl=https://api.example.com"])
  }

  it("has no fault that its tool knows", () => {
    const { status, stdout } = spawnSync("helm", ["lint", "--strict", chart, ...given], { encoding: "utf8" })
    assert.strictEqual(status, 0, stdout)
  })

  for (const [name, values] of Object.entries(layouts)) {
    it(`every manifest is valid ${name}`, () => {
      const manifests = rendered(...values)
      assert.isAtLeast(manifests.length, 6)
      for (const manifest of manifests) {
        const { kind } = manifest
        // The resource of the Prometheus operator has no published schema here.
        if (kind === "PodMonitor") continue
        assert.isTrue(isKind(kind), kind)
        if (isKind(kind)) new kinds[kind](Object(manifest)).validate()
      }
    })

    it(`every program starts with its settings ${name}`, () =>
      Effect.gen(function* () {
        const folder = mkdtempSync(join(tmpdir(), "narthex-chart-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
        const files = contents(folder)
        for (const { spec } of podsOf(rendered(...values)))
          for (const { command, env } of spec.containers) {
            if (command[0] !== "narthex-server") continue
            const variables = Object.fromEntries(
              env.map(({ name, value = "" }) => [
                name,
                name.endsWith("_FILE") ? (files[value.split("/").at(-1) ?? ""] ?? "") : value
              ])
            )
            const settings = yield* loadSettings({ standalone: false, terminal: false }).pipe(
              Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(variables))
            )
            assert.strictEqual(settings.mode.name, "production")
          }
      }).pipe(Effect.scoped, Effect.runPromise))
  }

  it("no pod has a right of root, and only the runner knows the cluster", () => {
    const pods = podsOf(rendered())
    assert.lengthOf(pods, 5)
    for (const { name, spec } of pods) {
      assert.deepStrictEqual(spec.securityContext, { runAsNonRoot: true, runAsUser: 1000 })
      assert.strictEqual(spec.automountServiceAccountToken ?? true, name === "narthex-runner", name)
      for (const container of spec.containers)
        assert.deepStrictEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] }
        })
    }
  })

  it("a service of the cluster sets no variable of a program", () => {
    for (const { name, spec } of podsOf(rendered())) assert.isFalse(spec.enableServiceLinks, name)
  })

  it("a setting that is a number, a flag or a list is written as its program reads it", () => {
    const settings = {
      NARTHEX_QUOTA_PROJECTS: 1_000_000,
      NARTHEX_OPEN_SIGNUP: true,
      NARTHEX_SIZES: [{ name: "small" }]
    }
    const [{ spec } = assert.fail("no pod")] = podsOf(rendered("--set-json", `settings=${JSON.stringify(settings)}`))
    const env = Object.fromEntries(spec.containers.flatMap((it) => it.env.map(({ name, value }) => [name, value])))
    assert.deepInclude(env, {
      NARTHEX_QUOTA_PROJECTS: "1000000",
      NARTHEX_OPEN_SIGNUP: "true",
      NARTHEX_SIZES: '[{"name":"small"}]'
    })
  })

  it("the runner has the rights of the files for those who do without the chart", () => {
    const files = ["rights.yaml", "per-organization.yaml"].map((name) =>
      readFileSync(join(chart, "../kubernetes", name), "utf8")
    )
    assert.sameDeepMembers(
      rights(rendered("--set", "computes.options.per_organization=true")),
      rights(files.flatMap(documents))
    )
    assert.isEmpty(rights(rendered("--set", "computes.driver=static")))
  })

  it.each(blocksRunBy("test/chart.test.ts"))("$at installs it", { tags: ["openssl"] }, ({ text }) => {
    const printed = typed(text)
    assert.match(printed, /^kind: Deployment$/m)
    for (const [, name = ""] of printed.matchAll(/secretName: ([\w-]+)/g))
      if (text.includes("kubectl")) assert.match(printed, new RegExp(`^  name: ${name}$`, "m"))
  })

  const missing = [
    ["the domain", "domain=", "Set domain"],
    ["the image", "image.repository=", "Set image.repository"],
    ["a storage class", "computes.options.storage_class=", "Set computes.options.storage_class"],
    ["the API of a further region", "api.enabled=false", "Set api.internalUrl"]
  ] as const
  it.each(missing)("an installation without %s is refused with a sentence", (_, value, sentence) => {
    const values = [...given, "--set", value]
    const { status, stderr } = spawnSync("helm", ["template", "narthex", chart, ...values], { encoding: "utf8" })
    assert.notStrictEqual(status, 0)
    assert.include(stderr, sentence)
  })
})

/** The double of the API server answers as a real one does: what the tests of the driver rely on. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../../../test/harness/eventually.ts"
import { apiCaller, apply, merge } from "./support/api/apiCaller.ts"
import { type Fields, fieldsAt, listAt, textAt } from "./support/api/json.ts"
import { nameIn, uidIn, versionIn } from "./support/api/ObjectStore.ts"
import { claims, secrets, snapshots } from "./support/api/resources.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

const at = "/api/v1/namespaces/default/configmaps"
let count = 0
const named = () => `thing-${count++}`

const world = Effect.map(KubernetesDouble, (kubernetes) => ({ ...apiCaller(kubernetes.serviceAccount), kubernetes }))

/** A test as promises. */
const live = (body: (given: Effect.Success<typeof world>) => Promise<void>) =>
  Effect.flatMap(world, (given) => Effect.promise(() => body(given)))

const made = async ({ call }: Effect.Success<typeof world>, more: Fields = {}): Promise<Fields> => {
  const { body, status } = await call("POST", at, { metadata: { name: named() }, ...more })
  assert.strictEqual(status, 201)
  return body
}

describe("the double of Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(KubernetesDouble.layer, { excludeTestServices: true })((it) => {
    it.effect("a call without a token, a path of no kind and a missing object are refused as by a server", () =>
      live(async ({ call, kubernetes }) => {
        const stranger = apiCaller({ ...kubernetes.serviceAccount, token: "" })
        assert.strictEqual((await stranger.call("GET", at)).status, 401)
        assert.deepInclude(await call("GET", "/apis/example.com/v1/things"), {
          status: 404,
          text: "404 page not found\n"
        })
        const missing = await call("GET", `${at}/none`)
        assert.deepStrictEqual([missing.status, textAt(missing.body, "reason")], [404, "NotFound"])
      })
    )

    it.effect("a patch with an outdated version and a second creation are conflicts", () =>
      live(async (given) => {
        const object = await made(given)
        const path = `${at}/${nameIn(object)}`
        const first = await given.call("PATCH", path, { data: { a: "1" } }, merge)
        assert.strictEqual(first.status, 200)
        const outdated = { metadata: { resourceVersion: versionIn(object) }, data: { a: "2" } }
        assert.strictEqual((await given.call("PATCH", path, outdated, merge)).status, 409)
        const again = await given.call("POST", at, { metadata: { name: nameIn(object) } })
        assert.deepStrictEqual([again.status, textAt(again.body, "reason")], [409, "AlreadyExists"])
        assert.deepStrictEqual((await given.call("GET", path)).body["data"], { a: "1" })
      })
    )

    it.effect(
      "an apply removes what its manager left out, and conflicts with fields of others unless it is forced",
      () =>
        live(async ({ call }) => {
          const name = named()
          const applied = (data: Fields, manager: string, force = false) => {
            const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data }
            return call("PATCH", `${at}/${name}?fieldManager=${manager}&force=${force}`, object, apply)
          }
          assert.strictEqual((await applied({ a: "1", b: "1" }, "one")).status, 201)
          assert.deepStrictEqual((await applied({ a: "1" }, "one")).body["data"], { a: "1" })
          assert.strictEqual((await applied({ a: "2" }, "two")).status, 409)
          const forced = await applied({ a: "2" }, "two", true)
          assert.deepStrictEqual(forced.body["data"], { a: "2" })
          const same = await applied({ a: "2" }, "two", true)
          assert.strictEqual(versionIn(same.body), versionIn(forced.body))
        })
    )

    it.effect("a list is answered in pages of one moment, and a token that has expired is gone", () =>
      live(async (given) => {
        const label = `page${count++}`
        for (let n = 0; n < 3; n++) await given.call("POST", at, { metadata: { name: named(), labels: { label } } })
        const path = `${at}?labelSelector=label%3D${label}&limit=2`
        const first = await given.call("GET", path)
        const token = textAt(first.body, "metadata", "continue")
        await given.call("POST", at, { metadata: { name: named(), labels: { label } } })
        const next = await given.call("GET", `${path}&continue=${token}`)
        assert.deepStrictEqual(
          [first, next].map(({ body }) => listAt(body, "items").length),
          [2, 1]
        )
        given.kubernetes.api.compact()
        assert.strictEqual((await given.call("GET", `${path}&continue=${token}`)).status, 410)
      })
    )

    it.effect("a watch tells of objects that begin and cease to match, and of versions that are too old", () =>
      live(async (given) => {
        const label = `watch${count++}`
        const { version } = given.kubernetes.store
        const path = (from: number | string) =>
          `${at}?watch=1&allowWatchBookmarks=true&labelSelector=label%3D${label}&resourceVersion=${from}`
        const events = given.watch(
          path(version),
          (all) => all.some(({ type }) => type === "DELETED") && all.at(-1)?.["type"] === "BOOKMARK"
        )
        const object = await made(given)
        const put = (labels: Fields) => given.call("PATCH", `${at}/${nameIn(object)}`, { metadata: { labels } }, merge)
        await put({ label })
        await put({ label, more: "1" })
        await put({ label: null })
        const seen = (await events).map(({ type }) => type)
        assert.deepStrictEqual(
          seen.filter((type) => type !== "BOOKMARK"),
          ["ADDED", "MODIFIED", "DELETED"]
        )
        given.kubernetes.api.compact()
        await made(given)
        const [error] = await given.watch(path(version), () => true)
        assert.deepStrictEqual(
          [error?.["type"], error?.["object"] && fieldsAt(error, "object")["code"]],
          ["ERROR", 410]
        )
      })
    )

    it.effect(
      "a deletion in the foreground waits for what the object owns, and one with another uid is a conflict",
      () =>
        live(async (given) => {
          const owner = await made(given)
          const reference = { apiVersion: "v1", kind: "ConfigMap", name: nameIn(owner), uid: uidIn(owner) }
          const ownerReferences = [{ ...reference, blockOwnerDeletion: true }]
          const owned = await given.call("POST", at, {
            metadata: { name: named(), ownerReferences, finalizers: ["example.com/kept"] }
          })
          const path = `${at}/${nameIn(owner)}`
          const wrong = await given.call("DELETE", path, { preconditions: { uid: "another" } })
          assert.strictEqual(wrong.status, 409)
          const deletion = { propagationPolicy: "Foreground", preconditions: { uid: uidIn(owner) } }
          assert.strictEqual((await given.call("DELETE", path, deletion)).status, 200)
          const ofOwned = `${at}/${nameIn(owned.body)}`
          await until("the deletion of the dependent", async () => {
            const { body } = await given.call("GET", ofOwned)
            return textAt(body, "metadata", "deletionTimestamp") !== ""
          })
          assert.strictEqual((await given.call("GET", path)).status, 200)
          await given.call("PATCH", ofOwned, { metadata: { finalizers: null } }, merge)
          await until("the deletion of the owner", async () => (await given.call("GET", path)).status === 404)
        })
    )

    it.effect("a cluster with an unknown member or a parameter of the operator is refused", () =>
      live(async ({ call }) => {
        const path = "/apis/postgresql.cnpg.io/v1/namespaces/default/clusters"
        const cluster = (spec: Fields) =>
          call("POST", path, { metadata: { name: named() }, spec: { instances: 1, storage: { size: "1Gi" }, ...spec } })
        assert.strictEqual((await cluster({ storrage: {} })).status, 400)
        assert.strictEqual((await cluster({ instances: 0 })).status, 422)
        assert.strictEqual((await cluster({ postgresql: { parameters: { archive_mode: "off" } } })).status, 422)
      })
    )

    it.effect("a missing right and a snapshot of no claim are told as by a server", () =>
      live(async ({ call, kubernetes }) => {
        kubernetes.faults.forbid("list", secrets)
        const refused = await call("GET", "/api/v1/namespaces/default/secrets")
        const review = await call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
          spec: { resourceAttributes: { verb: "list", group: "", resource: "secrets" } }
        })
        kubernetes.faults.clear()
        assert.deepStrictEqual([refused.status, fieldsAt(review.body, "status")["allowed"]], [403, false])
        assert.isUndefined(kubernetes.store.find(claims, "default", "none"))
        const path = "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots"
        const spec = { volumeSnapshotClassName: "fast", source: { persistentVolumeClaimName: "none" } }
        await call("POST", path, { metadata: { name: "nothing" }, spec })
        await until("the error of the snapshot", () => {
          const found = kubernetes.store.read(snapshots, "default", "nothing")
          return textAt(found, "status", "error", "message") !== ""
        })
      })
    )
  })
)

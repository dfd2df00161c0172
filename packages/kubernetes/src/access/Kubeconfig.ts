/**
 * Access by a kubeconfig: the server, the authority and the credentials of its current context. Credentials are a token, a
 * file with one, or a client certificate.
 *
 * Programs that print credentials (`exec`) are not run. Where a kubeconfig has one, `kubectl proxy` gives a URL that needs
 * no credentials.
 */
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { Effect, Redacted, Schema } from "effect"
import { parse } from "yaml"
import type { ApiAccess } from "./ApiAccess.ts"
import { unusable } from "./KubernetesUnusable.ts"

const text = Schema.optionalKey(Schema.String)

const Kubeconfig = Schema.Struct({
  "current-context": Schema.String,
  clusters: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      cluster: Schema.Struct({
        server: Schema.String,
        "certificate-authority": text,
        "certificate-authority-data": text,
        "insecure-skip-tls-verify": Schema.optionalKey(Schema.Boolean)
      })
    })
  ),
  contexts: Schema.Array(
    Schema.Struct({ name: Schema.String, context: Schema.Struct({ cluster: Schema.String, user: text }) })
  ),
  users: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        user: Schema.Struct({
          token: text,
          tokenFile: text,
          "client-certificate": text,
          "client-certificate-data": text,
          "client-key": text,
          "client-key-data": text,
          exec: Schema.optionalKey(Schema.Unknown)
        })
      })
    )
  )
})

const decode = Schema.decodeUnknownEffect(Kubeconfig)

const named = <A extends { readonly name: string }>(all: ReadonlyArray<A> | undefined, name: string | undefined) =>
  all?.find((it) => it.name === name)

/** Reads a small file; its name is that of the kubeconfig's member. */
export const fileText = (path: string) =>
  Effect.try({
    try: () => readFileSync(path, "utf8"),
    catch: () => unusable(`The file ${path} cannot be read.`)
  })

/** Access by the text of a kubeconfig. Relative paths in it start at `directory`. */
export const accessOf = Effect.fn("Kubeconfig.accessOf")(function* (kubeconfig: string, directory = ".") {
  const document = yield* Effect.try({
    try: (): unknown => parse(kubeconfig),
    catch: () => unusable("The kubeconfig is not YAML.")
  })
  const config = yield* Effect.mapError(decode(document), () =>
    unusable("The kubeconfig has no current-context, clusters and contexts of the usual form.")
  )
  const context = named(config.contexts, config["current-context"])?.context
  const cluster = named(config.clusters, context?.cluster)?.cluster
  if (cluster === undefined) return yield* unusable("The current-context of the kubeconfig names no cluster of it.")
  if (cluster["insecure-skip-tls-verify"] === true) {
    return yield* unusable("The kubeconfig skips the verification of TLS. Give it a certificate-authority.")
  }
  const user = named(config.users, context?.user)?.user
  if (user?.exec !== undefined) {
    return yield* unusable(
      "The kubeconfig gets its credentials from a program (`exec`), which is not run. Use the token of a service account, or `kubectl proxy`."
    )
  }
  if (!cluster.server.startsWith("https:") && Object.keys(user ?? {}).length > 0) {
    return yield* unusable("The kubeconfig would send its credentials in plain text. Give the server an https URL.")
  }
  const inline = (data: string | undefined, path: string | undefined) => {
    if (data !== undefined) return Effect.succeed(Buffer.from(data, "base64").toString("utf8"))
    return path === undefined ? Effect.succeed(undefined) : fileText(resolve(directory, path))
  }
  const ca = yield* inline(cluster["certificate-authority-data"], cluster["certificate-authority"])
  const cert = yield* inline(user?.["client-certificate-data"], user?.["client-certificate"])
  const key = yield* inline(user?.["client-key-data"], user?.["client-key"])
  const { token, tokenFile } = user ?? {}
  const access: ApiAccess = {
    server: cluster.server,
    ca,
    certificate: cert === undefined || key === undefined ? undefined : { cert, key: Redacted.make(key) },
    token:
      token === undefined && tokenFile !== undefined
        ? Effect.map(fileText(resolve(directory, tokenFile)), (found) => Redacted.make(found.trim()))
        : token === undefined
          ? undefined
          : Effect.succeed(Redacted.make(token))
  }
  return access
})

/** Access by a kubeconfig in a file. */
export const accessOfFile = (path: string) =>
  Effect.flatMap(fileText(path), (kubeconfig) => accessOf(kubeconfig, dirname(path)))

/** Files: the modes of secrets, the certificate of the proxy, and the disks of the directories. */
import { X509Certificate } from "node:crypto"
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { codeOf } from "@narthex/http"
import { diskReserve, spaceOf } from "@narthex/local-postgres"
import { makeTls } from "@narthex/proxy"
import { Clock, Effect } from "effect"
import type { Settings } from "../settings/Settings.ts"
import { type SecretFile, secretFiles } from "../settings/secretFiles.ts"
import { type Examination, type Finding, fine, warning, wrong } from "./Finding.ts"

const modeOf = ({ path, variable }: SecretFile): Finding => {
  try {
    const mode = statSync(path).mode & 0o777
    return (mode & 0o007) === 0
      ? fine("secrets", `The file of ${variable} is closed to other users.`)
      : wrong("secrets", `Every user may open ${path} of ${variable}. Close it: chmod 600 ${path}`)
  } catch (cause) {
    return wrong("secrets", `The file ${path} of ${variable} cannot be used (${codeOf(cause)}). Correct the variable.`)
  }
}

export const examineSecrets = ({ proxy }: Settings): Examination =>
  Effect.map(secretFiles, (files) =>
    [...files, ...(proxy.tls === null ? [] : [{ variable: "NARTHEX_PROXY_TLS_KEY", path: proxy.tls.key }])].map(modeOf)
  )

const day = 86_400_000
const renewedBefore = 14 * day

/** The names are those of endpoints, so a certificate for the domain itself is not enough. */
export const examineCertificate = ({ proxy, regions }: Settings): Examination =>
  Effect.gen(function* () {
    const part = "certificate"
    const { domain, tls } = proxy
    if (tls === null) return [fine(part, "The proxy has none, and accepts connections without TLS.")]
    yield* makeTls(tls)
    const { validToDate, ...certificate } = yield* Effect.try({
      try: () => {
        const read = new X509Certificate(readFileSync(tls.cert))
        return { validToDate: read.validToDate, names: (host: string) => read.checkHost(host) !== undefined }
      },
      catch: codeOf
    })
    const now = yield* Clock.currentTimeMillis
    const left = validToDate.getTime() - now
    const until = validToDate.toISOString().slice(0, 10)
    const missing =
      domain === "localhost" ? [] : regions.filter((region) => !certificate.names(`ep-a.${region}.${domain}`))
    return [
      left <= 0
        ? wrong(part, `${tls.cert} was valid until ${until}. Renew it; the proxy reads the new file by itself.`)
        : left < renewedBefore
          ? warning(part, `${tls.cert} is valid until ${until}. Renew it; the proxy reads the new file by itself.`)
          : fine(part, `${tls.cert} is valid until ${until}.`),
      ...missing.map((region) =>
        wrong(part, `${tls.cert} is not for *.${region}.${domain}, the hosts of endpoints. Get one that has this name.`)
      )
    ]
  }).pipe(
    Effect.catch((error) =>
      Effect.succeed([
        wrong(
          "certificate",
          `NARTHEX_PROXY_TLS_CERT and NARTHEX_PROXY_TLS_KEY are unusable: ${typeof error === "string" ? error : error.reason}. Correct the paths, or the files.`
        )
      ])
    )
  )

/** The directory, or the nearest one above it that exists, in which it will be made. */
const existing = (directory: string): string =>
  existsSync(directory) || dirname(directory) === directory ? directory : existing(dirname(directory))

const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MiB`

const examineDirectory = (variable: string, directory: string): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    const place = existing(directory)
    yield* Effect.try({
      try: () => accessSync(place, constants.W_OK | constants.X_OK),
      catch: (cause) =>
        `${directory} of ${variable} cannot be written (${codeOf(cause)}). Change its owner, or name another one.`
    })
    const { free } = yield* Effect.mapError(spaceOf(place), ({ message }) => message)
    return free < diskReserve
      ? wrong(
          "disk",
          `The disk of ${directory} has ${mebibytes(free)} free, and no compute starts below ${mebibytes(diskReserve)}. Free some, or set ${variable}.`
        )
      : fine("disk", `The disk of ${directory} has ${mebibytes(free)} free.`)
  }).pipe(Effect.catch((reason) => Effect.succeed(wrong("disk", reason))))

export const examineDisks = ({ compute_dir, data_dir }: Settings): Examination =>
  Effect.all([
    examineDirectory("NARTHEX_DATA_DIR", data_dir),
    ...(compute_dir === null ? [] : [examineDirectory("NARTHEX_COMPUTE_DIR", compute_dir)])
  ])

/** Certificates: an authority, and what it signs. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** PEM texts. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

const elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

/** A certificate for a new key, or for `key`. */
const made = async (options: ReadonlyArray<string>, by?: KeyPair, key?: string): Promise<KeyPair> => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-cert-"))
  const file = (name: string) => join(directory, name)
  try {
    if (by !== undefined) {
      await writeFile(file("ca.crt"), by.cert)
      await writeFile(file("ca.key"), by.key)
    }
    const signed = by === undefined ? [] : ["-CA", file("ca.crt"), "-CAkey", file("ca.key")]
    if (key !== undefined) await writeFile(file("key"), key)
    const keys = key === undefined ? [...elliptic, "-keyout", file("key")] : ["-key", file("key")]
    await run("openssl", ["req", "-x509", ...keys, "-out", file("cert"), "-days", "2", ...signed, ...options])
    return { cert: await readFile(file("cert"), "utf8"), key: await readFile(file("key"), "utf8") }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const extensions = (...texts: ReadonlyArray<string>) => texts.flatMap((text) => ["-addext", text])

/** `key`: that of the authority which this one renews. */
export const makeAuthority = (name: string, key?: string): Promise<KeyPair> =>
  made(
    ["-subj", `/OU=double/CN=${name}`, ...extensions("keyUsage=critical,keyCertSign,digitalSignature")],
    undefined,
    key
  )

/** A certificate of a server. `names`: as OpenSSL writes alternative names, `DNS:db`. */
export const signServer = (authority: KeyPair, name: string, names: ReadonlyArray<string>): Promise<KeyPair> =>
  made(
    ["-subj", `/CN=${name}`, ...extensions(`subjectAltName=${names.join(",")}`, "basicConstraints=critical,CA:FALSE")],
    authority
  )

/** A certificate of a client, whose common name is the user. */
export const signClient = (authority: KeyPair, user: string): Promise<KeyPair> =>
  made(
    ["-subj", `/CN=${user}`, ...extensions("basicConstraints=critical,CA:FALSE", "extendedKeyUsage=clientAuth")],
    authority
  )

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

const made = async (options: ReadonlyArray<string>, by?: KeyPair): Promise<KeyPair> => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-cert-"))
  const file = (name: string) => join(directory, name)
  try {
    if (by !== undefined) {
      await writeFile(file("ca.crt"), by.cert)
      await writeFile(file("ca.key"), by.key)
    }
    const signed = by === undefined ? [] : ["-CA", file("ca.crt"), "-CAkey", file("ca.key")]
    const out = ["-keyout", file("key"), "-out", file("cert"), "-days", "2"]
    await run("openssl", ["req", "-x509", ...elliptic, ...out, ...signed, ...options])
    const [cert, key] = await Promise.all([readFile(file("cert"), "utf8"), readFile(file("key"), "utf8")])
    return { cert, key }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const extensions = (...texts: ReadonlyArray<string>) => texts.flatMap((text) => ["-addext", text])

export const makeAuthority = (name: string): Promise<KeyPair> =>
  made(["-subj", `/OU=double/CN=${name}`, ...extensions("keyUsage=critical,keyCertSign,digitalSignature")])

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

/** The data of the channel binding `tls-server-end-point` (RFC 5929): a digest of the certificate that clients see. */
import { createHash, X509Certificate } from "node:crypto"

/** Digests by the OID of the signature's algorithm. MD5 and SHA-1 are replaced by SHA-256, as the RFC says. */
const digests: ReadonlyMap<string, "sha256" | "sha384" | "sha512"> = new Map([
  ["1.2.840.113549.1.1.4", "sha256"],
  ["1.2.840.113549.1.1.5", "sha256"],
  ["1.2.840.113549.1.1.11", "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
  ["1.2.840.10045.4.1", "sha256"],
  ["1.2.840.10045.4.3.2", "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"]
])

/**
 * The data for the first certificate of a PEM file. `undefined`, so that no channel binding is offered, where the algorithm has
 * no digest (Ed25519) or where Node does not tell the algorithm (before 24.9).
 */
export const serverEndPoint = (pem: Buffer): Buffer | undefined => {
  const certificate = new X509Certificate(pem)
  const digest = digests.get(certificate.signatureAlgorithmOid)
  return digest === undefined ? undefined : createHash(digest).update(certificate.raw).digest()
}

/**
 * A session on a plain socket, for what drivers hide: the cancel key and the raw bytes. It implements as much of
 * SCRAM-SHA-256 (RFC 5802) as a login needs.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import type { Socket } from "node:net"
import { within } from "../../../../test/harness/eventually.ts"
import { MessageWalker } from "../../src/wire/MessageWalker.ts"
import { open, usual } from "./clients.ts"
import { password } from "./credentials.ts"

export interface BareSession {
  readonly socket: Socket
  readonly key: Buffer
  readonly pid: number
  /** The first error or completion of the query. */
  readonly answer: Promise<Buffer>
}

const message = (type: string, ...parts: ReadonlyArray<Buffer | string>) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest()

const finalMessage = (bare: string, serverFirst: string, secret: string) => {
  const field = (name: string) =>
    serverFirst
      .split(",")
      .find((text) => text.startsWith(`${name}=`))
      ?.slice(2) ?? ""
  const salted = pbkdf2Sync(secret, Buffer.from(field("s"), "base64"), Number(field("i")), 32, "sha256")
  const clientKey = hmac(salted, "Client Key")
  const withoutProof = `c=biws,r=${field("r")}`
  const signature = hmac(createHash("sha256").update(clientKey).digest(), `${bare},${serverFirst},${withoutProof}`)
  return `${withoutProof},p=${Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))).toString("base64")}`
}

/** Logs in and sends a query. Resolves when the session has its cancel key. */
export const session = async (
  port: number,
  sql: string,
  sendStartup: (socket: Socket) => unknown = (it) => it.write(usual),
  secret = password,
  opened: (socket: Socket) => void = () => {}
) => {
  const socket = open(port)
  opened(socket)
  const bare = `n=,r=${randomBytes(18).toString("base64")}`
  const begun = new Promise<BareSession>((resume, reject) => {
    let key = Buffer.alloc(0)
    const { promise: answer, resolve: answered } = Promise.withResolvers<Buffer>()
    const walker = new MessageWalker({
      wants: () => true,
      message: (type, body) => {
        const letter = String.fromCharCode(type)
        if (letter === "R" && body.readUInt32BE(0) === 10)
          socket.write(message("p", "SCRAM-SHA-256\0", int32(3 + bare.length), `n,,${bare}`))
        else if (letter === "R" && body.readUInt32BE(0) === 11)
          socket.write(message("p", finalMessage(bare, body.toString("utf8", 4), secret)))
        else if (letter === "K") {
          key = Buffer.from(body)
          socket.write(message("Q", `${sql}\0`))
          resume({ socket, key, pid: key.readUInt32BE(0), answer })
        } else if (letter === "E" || letter === "C") {
          answered(Buffer.from(body))
          if (key.length === 0) reject(new Error(body.toString("latin1")))
        }
      }
    })
    socket.on("data", (chunk: Buffer) => walker.walk(chunk))
    socket.once("close", () => reject(new Error("closed without an answer")))
    socket.once("connect", () => sendStartup(socket))
  })
  return within("a session to begin", begun)
}

/** The forms of what runs computes: the servers of an operator, and the accounts of local ones. */

import type { UidRange } from "@narthex/local-postgres"
import { Option, type Redacted, Result, Schema } from "effect"
import { computeAddress, type Form, postgresUrl, type TextForm } from "./forms.ts"

/** A server of the operator. `tls` is as in `ComputeReach`; without `admin_url` it has roles of its own. */
export interface StaticServer {
  readonly address: string
  readonly admin_url: Redacted.Redacted | null
  readonly tls: { readonly ca: string | null } | null
}

/** Whether a connection to the address leaves this machine. */
const leavesMachine = (address: string): boolean => !/^(?:\/|localhost:|127(?:\.\d{1,3}){3}:|\[::1\]:)/.test(address)

/** The operator's servers. The database of an admin URL is the one that clients connect to. */
export const staticComputes: Form<ReadonlyArray<StaticServer>> = {
  read: (text) => {
    const expected =
      'a JSON list of {"address": "host:port", "admin_url": "postgresql://…/postgres", "tls": "verify"}, where "tls" may be ' +
      '"verify", {"ca": "<PEM>"} or "none", and is required for every host that is not this machine'
    const servers = Option.getOrUndefined(Result.getSuccess(decodeServers(text)))
    const read = servers?.map(({ address, admin_url, tls }): StaticServer | undefined => {
      const url = admin_url === undefined ? null : postgresUrl(admin_url)
      const named = admin_url === undefined || URL.parse(admin_url)?.pathname === "/postgres"
      const chosen = tls !== undefined || !leavesMachine(address)
      if (url === undefined || !named || !chosen || Result.isFailure(computeAddress.read(address))) return undefined
      return { address, admin_url: url, tls: tlsOf(tls) }
    })
    const complete = read?.filter((it) => it !== undefined)
    return complete === undefined || complete.length === 0 || complete.length !== read?.length
      ? Result.fail(expected)
      : Result.succeed(complete)
  }
}

/** The text of a certificate. A path to one is refused here: no proxy could connect with it. */
const Pem = Schema.String.check(Schema.isPattern(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/))

const ChosenTls = Schema.Union([Schema.Literals(["verify", "none"]), Schema.Struct({ ca: Pem })])

const tlsOf = (tls: typeof ChosenTls.Type | undefined): StaticServer["tls"] => {
  if (tls === undefined || tls === "none") return null
  return tls === "verify" ? { ca: null } : tls
}

const decodeServers = Schema.decodeUnknownResult(
  Schema.fromJsonString(
    Schema.Array(
      Schema.Struct({
        address: Schema.String,
        admin_url: Schema.optionalKey(Schema.String),
        tls: Schema.optionalKey(ChosenTls)
      })
    )
  ),
  { onExcessProperty: "error" }
)

const highestUid = 4_294_967_294

/** The uids of local computes: `first-last`, none of a system's own users. */
export const uidRange: TextForm<UidRange> = {
  read: (text) => {
    const [, first, last] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? []
    const range = { first: Number(first), last: Number(last) }
    return range.first >= 1_000 && range.last >= range.first && range.last <= highestUid
      ? Result.succeed(range)
      : Result.fail("a range of uids from 1000 on, as 2000000-2999999")
  },
  write: ({ first, last }) => `${first}-${last}`
}

/** The allowlist calls of the test's control plane: one project, rules in memory, the contract's parser. */
import { contains, parseCidr, parseCidrOrAddress } from "@narthex/api"
import { Result } from "effect"
import { shop } from "./records.ts"
import { problem, type ReceivedRequest, type Reply } from "./replies.ts"

interface Rule {
  readonly cidr: string
  readonly label: string
  readonly created_at: string
  readonly created_by: { readonly id: string; readonly email: string | null }
  readonly expires_at: string | null
}

export class AllowlistRoutes {
  readonly rules: Array<Rule> = []
  /** Refused clients as the API lists them. */
  readonly refusals: Array<Readonly<Record<string, unknown>>> = []
  readonly #by: Rule["created_by"]
  readonly #at: string

  constructor(by: Rule["created_by"], at: string) {
    this.#by = { id: by.id, email: by.email }
    this.#at = at
  }

  list(...cidrs: ReadonlyArray<string>) {
    for (const cidr of cidrs) this.#add(cidr, "", null)
  }

  #add(cidr: string, label: string, expires_at: string | null): Rule {
    const rule: Rule = { cidr, label, created_at: this.#at, created_by: this.#by, expires_at }
    this.rules.push(rule)
    return rule
  }

  route({ method, path, query }: ReceivedRequest, body: Readonly<Record<string, unknown>>): Reply | undefined {
    const base = `/v1/projects/${shop}/ip-allow`
    if (path !== base && !path.startsWith(`${base}/`)) return undefined
    const rest = decodeURIComponent(path.slice(base.length + 1))
    if (method === "GET" && rest === "check") return { status: 200, body: this.#check(query.get("address") ?? "") }
    if (method === "GET" && rest === "refusals") return { status: 200, body: this.#refused(query) }
    if (method === "GET") return { status: 200, body: this.#shown() }
    if (method === "POST") {
      const cidr = parseCidr(String(body["cidr"]))
      if (Result.isFailure(cidr)) return problem("malformed_cidr", { detail: cidr.failure.message })
      const ttl = body["ttl_seconds"]
      const expires = typeof ttl === "number" ? new Date(Date.parse(this.#at) + ttl * 1000).toISOString() : null
      return { status: 201, body: this.#add(cidr.success, String(body["label"] ?? ""), expires) }
    }
    if (rest === "") {
      this.rules.length = 0
      return { status: 204 }
    }
    const named = Result.getOrUndefined(parseCidrOrAddress(rest))
    const index = this.rules.findIndex(({ cidr }) => cidr === named)
    if (index === -1) return problem("not_found")
    this.rules.splice(index, 1)
    return { status: 204 }
  }

  /** A page; its cursor is the number of entries before it. */
  #refused(query: URLSearchParams) {
    const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit") ?? 200)]
    const next_cursor = from + limit < this.refusals.length ? String(from + limit) : null
    return { refusals: this.refusals.slice(from, from + limit), pagination: { next_cursor } }
  }

  #check(address: string) {
    const matched = this.rules
      .map(({ cidr }) => Result.getOrThrow(parseCidr(cidr)))
      .find((cidr) => contains(cidr, address))
    return { allowed: this.rules.length === 0 || matched !== undefined, matched: matched ?? null }
  }

  #shown() {
    const ends = this.rules.map(({ expires_at }) => expires_at)
    const opens_at = ends.length > 0 && ends.every((end) => end !== null) ? (ends.toSorted().at(-1) ?? null) : null
    const listed = (mark: string) => this.rules.some(({ cidr }) => cidr.includes(mark))
    const whole = (cidr: string) => this.rules.some((rule) => rule.cidr === cidr)
    const only4 = whole("0.0.0.0/0") && !listed(":")
    const refused_family = only4 ? "ipv6" : whole("::/0") && !listed(".") ? "ipv4" : null
    return { rules: this.rules, restricted: this.rules.length > 0, opens_at, refused_family }
  }
}

/** Lists as async iterables of pages (docs/design/client.md L32). */
import { assert, describe, it } from "@effect/vitest"
import { type Client, createClient, isNarthexError } from "@narthex/api"

/** A client of a list whose pages have these cursors, and the queries that were asked. */
const clientOf = (next: Readonly<Record<string, string | null>>) => {
  const asked: Array<string> = []
  const client = createClient({
    baseUrl: "http://narthex.invalid",
    credential: "nsk_test",
    retries: false,
    fetch: async ({ url }) => {
      const { search, searchParams } = new URL(url)
      asked.push(search)
      return Response.json({
        projects: [],
        pagination: { next_cursor: next[searchParams.get("cursor") ?? ""] ?? null }
      })
    }
  })
  return { asked, list: client.projects.list }
}

/** The calls with pages, by their types. */
type Lists = {
  [G in keyof Client]: {
    [M in keyof Client[G]]: Client[G][M] extends { readonly pages: unknown } ? `${G}.${M & string}` : never
  }[keyof Client[G]]
}[keyof Client]

const lists: Readonly<Record<Lists, true>> = {
  "apiKeys.list": true,
  "apiKeys.listBare": true,
  "audit.list": true,
  "branches.credentials": true,
  "branches.list": true,
  "endpoints.list": true,
  "events.history": true,
  "events.projectHistory": true,
  "invitations.list": true,
  "ipAllow.refusals": true,
  "operations.list": true,
  "orgs.list": true,
  "orgs.members": true,
  "ownInvitations.list": true,
  "projects.list": true,
  "webhooks.deliveries": true,
  "webhooks.list": true
}

const three = { "": "b", b: "c", c: null }

const cursorsOf = async (pages: AsyncIterable<{ readonly pagination: { readonly next_cursor: string | null } }>) => {
  const cursors: Array<string | null> = []
  for await (const { pagination } of pages) cursors.push(pagination.next_cursor)
  return cursors
}

describe("the pages of a list", () => {
  it("a loop reads one page after the other with the same query, and another loop reads them again", async () => {
    const { asked, list } = clientOf(three)
    const pages = list.pages({ limit: 2 })
    assert.deepStrictEqual(asked, [])
    assert.deepStrictEqual(await cursorsOf(pages), ["b", "c", null])
    assert.deepStrictEqual(asked, ["?limit=2", "?limit=2&cursor=b", "?limit=2&cursor=c"])
    assert.deepStrictEqual(await cursorsOf(pages), ["b", "c", null])
  })

  it("a loop that ends early reads no further page", async () => {
    const { asked, list } = clientOf(three)
    for await (const { pagination } of list.pages()) if (pagination.next_cursor === "c") break
    assert.deepStrictEqual(asked, ["", "?cursor=b"])
  })

  it("a loop begins at the cursor of its input", async () => {
    const { list } = clientOf(three)
    assert.deepStrictEqual(await cursorsOf(list.pages({ cursor: "b" })), ["c", null])
  })

  it("a server that repeats a cursor ends the loop with unreadable_answer", async () => {
    const { asked, list } = clientOf({ "": "b", b: "c", c: "b" })
    const failure: unknown = await cursorsOf(list.pages()).catch((error: unknown) => error)
    assert.isTrue(isNarthexError(failure) && failure.code === "unreadable_answer")
    assert.match(String(failure), /The server repeats a page/)
    assert.lengthOf(asked, 3)
  })

  it("a wrong input ends the loop with invalid_input, and nothing is sent", async () => {
    const { asked, list } = clientOf(three)
    const failure: unknown = await cursorsOf(list.pages({ limit: 0 })).catch((error: unknown) => error)
    assert.isTrue(isNarthexError(failure) && failure.code === "invalid_input")
    assert.deepStrictEqual(asked, [])
  })

  it("every call whose answer is a page has pages, and no other", () => {
    const offered = Object.entries(createClient({ baseUrl: "http://narthex.invalid" })).flatMap(([group, calls]) =>
      Object.entries(calls).flatMap(([name, call]) => ("pages" in call ? [`${group}.${name}`] : []))
    )
    assert.sameMembers(offered, Object.keys(lists))
  })
})

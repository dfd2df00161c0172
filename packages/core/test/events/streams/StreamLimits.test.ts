import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { ApiKeyId, UserId } from "../../../src/Ids.ts"
import type { EventLimits } from "../../../src/records/events/EventSettings.ts"
import type { StreamAccess } from "../../../src/services/events/streams/StreamAccess.ts"
import { StreamLimits } from "../../../src/services/events/streams/StreamLimits.ts"
import { org, principal } from "../fixtures.ts"

const many: EventLimits = { streams: 9, org_streams: 9, instance_streams: 9, opens: 99 }

const by = (more: Parameters<typeof principal>[0]): StreamAccess => ({
  org_id: org,
  project_id: null,
  principal: principal(more)
})
const ada = by({})
const bob = by({ user_id: UserId.make("bob") })
const key = by({ api_key_id: ApiKeyId.make("key-1") })

/** Which limit refuses a stream, if one does. */
const refusal = (limits: StreamLimits, access: StreamAccess, now = 0) =>
  Option.match(limits.take(access, now), { onNone: () => "none", onSome: ({ limit }) => limit })

describe("the limits of streams", () => {
  it("a key is counted apart from its creator", () => {
    const limits = new StreamLimits({ ...many, streams: 1 })
    assert.deepStrictEqual(
      [ada, key, ada, key].map((access) => refusal(limits, access)),
      ["none", "none", "principal", "principal"]
    )
  })

  it.each([
    ["principal", { ...many, streams: 2 }, [ada, ada, ada]],
    ["organization", { ...many, org_streams: 2 }, [ada, bob, key]],
    ["instance", { ...many, instance_streams: 2 }, [ada, bob, key]]
  ] as const)("give the %s a place back when a stream ends", (name, settings, [first, second, third]) => {
    const limits = new StreamLimits(settings)
    assert.deepStrictEqual(
      [first, second, third].map((access) => refusal(limits, access)),
      ["none", "none", name]
    )
    limits.give(second)
    assert.strictEqual(refusal(limits, third), "none")
    assert.strictEqual(refusal(limits, third), name)
  })

  it("a refusal says how many there are, and how many may be", () => {
    const limits = new StreamLimits({ ...many, streams: 2, opens: 3 })
    limits.take(ada, 0)
    limits.take(ada, 0)
    const [reached, opened] = [limits.take(ada, 0), limits.take(ada, 0)].map(Option.getOrThrow)
    assert.deepInclude({ ...reached }, { limit: "principal", held: 2, allowed: 2 })
    assert.deepInclude({ ...opened }, { limit: "opens", held: 3, allowed: 3 })
  })

  it("openings are counted for one second, refused ones included", () => {
    const limits = new StreamLimits({ ...many, streams: 1, opens: 2 })
    assert.deepStrictEqual(
      [0, 0, 999, 1_000].map((now) => refusal(limits, ada, now)),
      ["none", "principal", "opens", "principal"]
    )
  })
})

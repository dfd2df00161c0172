import { assert, describe, it } from "@effect/vitest"
import { longestRoleName, twinSuffix, withTwins } from "../../src/records/projects/readOnlyTwin.ts"

interface Minted {
  readonly role: string
  readonly access: "read_only" | "read_write"
  readonly verifier: string
}

const reader: Minted = { role: "role_a", access: "read_only", verifier: "v-a" }
const writer: Minted = { role: "role_b", access: "read_write", verifier: "v-b" }

describe("withTwins", () => {
  it("a branch with a read-only endpoint has a read-only twin of each role, with its verifier", () => {
    assert.deepStrictEqual(withTwins([reader, writer], [{ type: "read_write" }, { type: "read_only" }]), [
      reader,
      writer,
      { role: `role_a${twinSuffix}`, access: "read_only", verifier: "v-a" },
      { role: `role_b${twinSuffix}`, access: "read_only", verifier: "v-b" }
    ])
  })

  it("a branch without a read-only endpoint has no twins", () => {
    assert.deepStrictEqual(withTwins([reader, writer], [{ type: "read_write" }]), [reader, writer])
    assert.deepStrictEqual(withTwins([reader], []), [reader])
  })

  it("a role whose twin would have too long a name has none", () => {
    const role = "é".repeat(Math.floor((longestRoleName - twinSuffix.length) / 2))
    const roles = [role, `${role}e`].map((name) => ({ ...writer, role: name }))
    assert.deepStrictEqual(
      withTwins(roles, [{ type: "read_only" }]).map((it) => it.role),
      [role, `${role}e`, `${role}${twinSuffix}`]
    )
  })
})

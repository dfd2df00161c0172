import { assert, describe, it } from "@effect/vitest"
import { HttpSessions } from "../src/server/HttpSessions.ts"

describe("sessions of clients at the door", () => {
  it("a session is one key's alone", () => {
    const sessions = new HttpSessions()
    assert.deepStrictEqual(sessions.begin("ada", "one"), [])
    assert.isTrue(sessions.uses("ada", "one"))
    assert.isFalse(sessions.uses("eve", "one"))
    sessions.end("one")
    assert.isFalse(sessions.uses("ada", "one"))
  })

  it("the session of a key that was used least recently ends for a new one", () => {
    const sessions = new HttpSessions()
    for (let count = 0; count < 16; count++) assert.deepStrictEqual(sessions.begin("ada", `${count}`), [])
    sessions.uses("ada", "0")
    assert.deepStrictEqual(sessions.begin("ada", "new"), ["1"])
    assert.isTrue(sessions.uses("ada", "0"))
    assert.isFalse(sessions.uses("ada", "1"))
  })

  it("all keys together have a limit too", () => {
    const sessions = new HttpSessions()
    for (let key = 0; key < 4_000; key++) sessions.begin(`key ${key}`, `session ${key}`)
    assert.deepStrictEqual(sessions.begin("late", "last"), ["session 0"])
    assert.isFalse(sessions.uses("key 0", "session 0"))
    assert.isTrue(sessions.uses("late", "last"))
  })
})

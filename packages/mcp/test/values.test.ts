import { assert, describe, it } from "@effect/vitest"
import { Option, Redacted } from "effect"
import { encodeBind } from "../src/sql/encodeBind.ts"
import { targetOf } from "../src/sql/Target.ts"
import { textOf, typeName, valueOf } from "../src/sql/values.ts"

const oid = { bool: 16, int8: 20, text: 25, json: 114, float8: 701, jsonb: 3802, numeric: 1700 }

describe("values of Postgres as JSON", () => {
  it("a number that JSON holds exactly is a number, and another one stays text", () => {
    assert.strictEqual(valueOf(oid.int8, "9007199254740991"), 9_007_199_254_740_991)
    assert.strictEqual(valueOf(oid.int8, "9007199254740993"), "9007199254740993")
    assert.strictEqual(valueOf(oid.float8, "1.5"), 1.5)
    assert.strictEqual(valueOf(oid.float8, "NaN"), "NaN")
    assert.strictEqual(valueOf(oid.float8, "Infinity"), "Infinity")
    assert.strictEqual(valueOf(oid.numeric, "1.10"), "1.10")
  })

  it("booleans and JSON are themselves, and every other type is the text of Postgres", () => {
    assert.strictEqual(valueOf(oid.bool, "t"), true)
    assert.deepStrictEqual(valueOf(oid.jsonb, '{"a":[1,null]}'), { a: [1, null] })
    assert.strictEqual(valueOf(oid.json, "not json"), "not json")
    assert.strictEqual(valueOf(99_999, "{1,2}"), "{1,2}")
  })

  it("types have their names, and the number of those that one database has", () => {
    assert.deepStrictEqual([typeName(oid.int8), typeName(1016), typeName(99_999)], ["int8", "int8[]", "type 99999"])
  })

  it("parameters are text, null, or JSON", () => {
    assert.deepStrictEqual([1, true, "x", null, { a: 1 }, [1]].map(textOf), ["1", "true", "x", null, '{"a":1}', "[1]"])
  })
})

describe("the message that binds parameters", () => {
  it("the message has its own length, and -1 for null", () => {
    const message = Buffer.from(encodeBind(["ä", null]))
    assert.strictEqual(message.toString("latin1", 0, 1), "B")
    assert.strictEqual(message.readInt32BE(1), message.length - 1)
    assert.strictEqual(message.readInt16BE(11), 2)
    assert.strictEqual(message.readInt32BE(13), 2)
    assert.strictEqual(message.toString("utf8", 17, 19), "ä")
    assert.strictEqual(message.readInt32BE(19), -1)
  })
})

describe("connection strings", () => {
  it("a connection string is read with its endpoint and TLS, and no other text is", () => {
    const read = targetOf(
      Redacted.make("postgresql://role_a:p%40ss@[::1]:5442/postgres?options=endpoint%3Dep-1&sslmode=require")
    )
    const { password, ...rest } = Option.getOrThrow(read)
    assert.strictEqual(Redacted.value(password), "p@ss")
    const expected = {
      host: "::1",
      port: 5442,
      user: "role_a",
      database: "postgres",
      options: "endpoint=ep-1",
      tls: true
    }
    assert.deepStrictEqual(rest, expected)
    for (const text of ["", "https://a:b@c/d", "postgresql:///d"])
      assert.isTrue(Option.isNone(targetOf(Redacted.make(text))), text)
  })
})

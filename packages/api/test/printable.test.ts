import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { KeyName, Label, Name } from "../src/schemas/members.ts"

describe("text that a person gives", () => {
  const texts = { KeyName, Label, Name }
  const marks = {
    "an escape sequence": "\u001b[31m",
    "a line break": "\n",
    "a direction override": "\u202e",
    "an isolate": "\u2066"
  }
  for (const [member, schema] of Object.entries(texts))
    for (const [mark, text] of Object.entries(marks))
      it(`${member} refuses ${mark}`, () => {
        assert.isFalse(Schema.is(Schema.toType(schema))(`a${text}b`))
        assert.isTrue(Schema.is(Schema.toType(schema))("büro ☕ مكتب"))
      })
})

/** The parameter `include`: parts of an answer that the query asks for (docs/design/api.md A28). */
import { Schema, SchemaTransformation } from "effect"

/** Names separated by commas. An unknown name is ignored, as an unknown parameter is. */
export const includeOf = <const Name extends string>(...names: ReadonlyArray<Name>) =>
  Schema.optionalKey(
    Schema.String.pipe(
      Schema.decodeTo(
        Schema.Array(Schema.Literals(names)),
        SchemaTransformation.transform<ReadonlyArray<Name>, string>({
          decode: (text) => {
            const asked = text.split(",")
            return names.filter((name) => asked.includes(name))
          },
          encode: (wanted) => wanted.join(",")
        })
      )
    )
  )

/** A kind of object of the API: where it is, and what the driver reads of it. */
import { Schema } from "effect"

const texts = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

export const Metadata = Schema.Struct({
  name: Schema.String,
  namespace: Schema.optionalKey(Schema.String),
  uid: Schema.String,
  resourceVersion: Schema.String,
  creationTimestamp: Schema.optionalKey(Schema.String),
  deletionTimestamp: Schema.optionalKey(Schema.String),
  labels: texts,
  annotations: texts
})

export interface Kept {
  readonly metadata: typeof Metadata.Type
}

export interface Resource<A extends Kept> {
  /** `/api/v1`, or `/apis/<group>/<version>`. */
  readonly root: string
  readonly plural: string
  readonly schema: Schema.Codec<A, unknown>
}

/** Which objects: `null` for all namespaces, or for a kind that has none. */
export type Namespace = string | null

/** The path of a kind, or of one object. */
export const pathOf = (
  { plural, root }: Pick<Resource<Kept>, "plural" | "root">,
  namespace: Namespace,
  name?: string
) =>
  [
    root,
    ...(namespace === null ? [] : [`namespaces/${namespace}`]),
    plural,
    ...(name === undefined ? [] : [name])
  ].join("/")

/** A selector of labels: each has the value, or exists where that is `null`. */
export const selectorOf = (labels: Readonly<Record<string, string | null>>): string =>
  Object.entries(labels)
    .map(([label, value]) => (value === null ? label : `${label}=${value}`))
    .join(",")

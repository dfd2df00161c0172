/** The form of the choices of NARTHEX_COMPUTE=kubernetes. */
import { KubernetesOptions } from "@narthex/kubernetes/options"
import { Result, Schema, SchemaIssue } from "effect"
import type { Form } from "./forms.ts"

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(KubernetesOptions), {
  errors: "all",
  onExcessProperty: "error"
})
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** Failures name the member and what is expected there. */
export const kubernetesOptions: Form<KubernetesOptions> = {
  read: (text) =>
    Result.mapError(decode(text), ({ issue }) => {
      const issues = issuesOf(issue).issues.map(({ message, path = [] }) =>
        [...path.map((part) => String(typeof part === "object" ? part.key : part)), message].join(": ")
      )
      return `a JSON object with the storage_class and snapshot_class of the computes (${issues.join("; ")})`
    })
}

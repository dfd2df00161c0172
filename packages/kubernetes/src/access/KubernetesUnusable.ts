/** Why a driver cannot use a Kubernetes cluster. Each problem is a sentence for the operator. */
import { Schema } from "effect"

export class KubernetesUnusable extends Schema.TaggedError<KubernetesUnusable>()("KubernetesUnusable", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    const [only] = this.problems
    if (only !== undefined && this.problems.length === 1) return `Kubernetes cannot be used: ${only}`
    return `Kubernetes cannot be used:\n${this.problems.map((problem) => `  - ${problem}`).join("\n")}`
  }
}

/** As a failure with one problem. */
export const unusable = (problem: string) => new KubernetesUnusable({ problems: [problem] })

/** A key's scope in one word, as it may be sent too. */
import type { Scope } from "@narthex/api"

export const scopeText = (scope: Scope): string => {
  switch (scope.type) {
    case "organization":
      return "organization"
    case "project":
      return `project:${scope.project_id}`
    case "branch":
      return `branch:${scope.branch_id}`
  }
}

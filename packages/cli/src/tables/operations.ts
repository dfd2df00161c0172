/** Tables of operations. */
import type { OperationRecord } from "@narthex/api"
import { DateTime } from "effect"
import { facts, instant, rows } from "../output/table.ts"

type Operation = typeof OperationRecord.Type

/** From the start to the end of the work; `null` while it has not begun or not ended. */
const duration = ({ finished_at, started_at }: Operation): string | null =>
  started_at === null || finished_at === null
    ? null
    : `${((DateTime.toEpochMillis(finished_at) - DateTime.toEpochMillis(started_at)) / 1000).toFixed(1)} s`

const initiator = ({ initiator: { id, name, type } }: Operation): string => name ?? id ?? type

/** `branches`: names by id. A branch that is gone has its id. */
export const operationRows = (operations: ReadonlyArray<Operation>, branches: ReadonlyMap<string, string>) =>
  rows(
    ["id", "action", "status", "took", "branch", "created", "by", "error"],
    ...operations.map((operation) => [
      operation.id,
      operation.action,
      operation.status,
      duration(operation),
      operation.branch_id === null ? null : (branches.get(operation.branch_id) ?? operation.branch_id),
      instant(operation.created_at),
      initiator(operation),
      operation.error
    ])
  )

export const operationFacts = (operation: Operation) =>
  facts(
    ["operation", operation.id],
    ["action", operation.action],
    ["status", operation.status],
    ["error", operation.error],
    ["project", operation.project_id],
    ["branch", operation.branch_id],
    ["endpoint", operation.endpoint_id],
    ["failures", operation.failures_count],
    ["retries", instant(operation.retry_at)],
    ["by", initiator(operation)],
    ["created", instant(operation.created_at)],
    ["started", instant(operation.started_at)],
    ["ended", instant(operation.finished_at)],
    ["took", duration(operation)]
  )

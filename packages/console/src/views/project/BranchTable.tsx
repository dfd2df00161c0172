/** Branches as a tree, with the state of what one connects to. */
import { DateTime } from "effect"
import { Menu } from "../../components/Menu.tsx"
import { Size } from "../../components/Size.tsx"
import { State } from "../../components/State.tsx"
import { Table } from "../../components/Table.tsx"
import { Tag } from "../../components/Tag.tsx"
import { Ago, Until } from "../../components/Times.tsx"
import { type BranchShown, branchState, type EndpointShown, endpointState } from "../records.ts"
import { branchTree, mainEndpoint } from "./branchTree.ts"

export interface BranchTableProps {
  readonly branches: ReadonlyArray<BranchShown>
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly here: string
  readonly mayChange: boolean
  /** Whether each branch has its author and its menu. */
  readonly actions?: boolean
  /** Shows so many at most. */
  readonly limit?: number
}

/** The state of a branch in one word: its own while it is being made, else that of its endpoint. */
const stateOf = (branch: BranchShown, endpoints: ReadonlyArray<EndpointShown>): ReturnType<typeof branchState> => {
  const own = branchState(branch)
  if (own.tone !== "good") return own
  const endpoint = mainEndpoint(branch.id, endpoints)
  return endpoint === undefined ? { word: "no endpoint", tone: "idle" } : endpointState(endpoint)
}

/** Deeper levels look alike. */
const deepest = 6

export const BranchTable = (props: BranchTableProps) => {
  const { actions = true, branches, endpoints, here, limit, mayChange } = props
  return (
    <Table
      id="branches-table"
      label="Branches of the project"
      columns={[
        { head: "Name" },
        { head: "State", phone: "aside" },
        { head: "Created" },
        { head: "Expires" },
        { head: "Size", align: "end" },
        ...(actions ? [{ head: "Actions", quiet: true, align: "end", phone: "aside" } as const] : [])
      ]}
      rows={branchTree(branches)
        .slice(0, limit)
        .map(({ branch, depth }) => {
          const { tone, word } = stateOf(branch, endpoints)
          return {
            key: branch.id,
            cells: [
              <span class={`tree depth-${Math.min(depth, deepest)}`}>
                <a href={`${here}/branches/${branch.id}`}>{branch.name}</a>
                {branch.default ? <Tag>default</Tag> : null}
                {branch.protected ? <Tag>protected</Tag> : null}
              </span>,
              <State tone={tone}>{word}</State>,
              <>
                <Ago at={DateTime.toUtc(branch.created_at)} />
                {actions && branch.created_by !== null ? (
                  <span class="under">{branch.created_by.email ?? branch.created_by.id}</span>
                ) : null}
              </>,
              <Until at={branch.expires_at} none="never" />,
              <Size bytes={branch.size_bytes} none="unknown" />,
              actions ? <BranchMenu branch={branch} endpoints={endpoints} here={here} mayChange={mayChange} /> : null
            ]
          }
        })}
    />
  )
}

interface BranchMenuProps {
  readonly branch: BranchShown
  readonly endpoints: ReadonlyArray<EndpointShown>
  readonly here: string
  readonly mayChange: boolean
}

const BranchMenu = ({ branch, endpoints, here, mayChange }: BranchMenuProps) => {
  const page = `${here}/branches/${branch.id}`
  const reachable = mainEndpoint(branch.id, endpoints) !== undefined
  return (
    <Menu
      id={branch.id}
      label={`Actions of ${branch.name}`}
      items={[
        ...(reachable ? [{ label: "Connect", href: `${here}?branch=${branch.id}#connect` }] : []),
        { label: "Credentials", href: `${page}/credentials` },
        ...(mayChange
          ? [
              { label: "New branch from it", href: `${here}/branches/new?parent=${branch.id}` },
              ...(reachable ? [] : [{ label: "Add an endpoint", href: `${here}/endpoints/new?branch=${branch.id}` }]),
              { label: "Rename, protect, expire", href: `${page}#change` },
              ...(branch.default ? [] : [{ label: "Reset or delete", href: `${page}#end`, tone: "danger" } as const])
            ]
          : [])
      ]}
    />
  )
}

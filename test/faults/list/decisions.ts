/** Who may do what. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const decisions: ReadonlyArray<FaultsOfFile> = [
  {
    area: "authorization",
    file: "packages/core/src/authorization/decide.ts",
    tests: ["packages/core/test/authorization/decide.edges.test.ts", "packages/core/test/authorization/decide.test.ts"],
    faults: [
      {
        id: "decide-pending",
        find: 'caller.account_state === "pending" && !passesPending(policy, caller, ids)',
        put: 'caller.account_state === "pending" && !policy.pending',
        why: "A pending account's key ends itself and no other key."
      },
      {
        id: "decide-pending-all",
        find: 'caller.account_state === "pending" && !passesPending',
        put: 'caller.account_state !== "pending" && !passesPending',
        why: "A pending account may do what pending accounts may."
      },
      {
        id: "decide-ex-member",
        find: '!(policy.ex_member && caller.kind === "session")',
        put: "!policy.ex_member",
        why: "The key of an ex-member does nothing."
      },
      {
        id: "decide-member",
        find: "caller.organization.role === null && !",
        put: "caller.organization.role !== null && !",
        why: "Only a member acts in an organization."
      },
      {
        id: "decide-session",
        find: 'if (policy.kind === "session") return refuse("session_required", "session", "api_key")',
        put: "",
        why: "What only a person may do a key may not."
      },
      {
        id: "decide-leave",
        find: "ids.user_id !== undefined && ids.user_id !== caller.user.id",
        put: "ids.user_id !== undefined",
        why: "Every member may leave."
      },
      {
        id: "decide-remove-other",
        find: 'removesOther ? "manage_members" : policy.permission',
        put: "policy.permission",
        why: "Removing another member needs the right to manage members."
      },
      {
        id: "decide-permission",
        find: "permission === null || caller.permissions.has(permission)",
        put: "true",
        why: "A call needs the role that its policy names."
      },
      {
        id: "decide-target-session",
        find: "!isAgent(caller) || agentMay(policy.agent, branch)",
        put: "agentMay(policy.agent, branch)",
        why: "The rule for agents binds agent keys only."
      },
      {
        id: "decide-ends-other",
        find: "return ids.api_key_id === caller.api_key_id ? undefined : refuse",
        put: "return ids.api_key_id !== caller.api_key_id ? undefined : refuse",
        why: "A key may end itself and no other."
      },
      {
        id: "decide-scope",
        find: "if (!reaches(policy, caller, ids)) return",
        put: 'if (reaches(policy, caller, ids) && policy.target === "none") return',
        why: "A key acts inside its scope only."
      },
      {
        id: "decide-effect",
        find: "effectsOf[caller.capability].has(policy.effect) &&",
        put: "",
        why: "A read-only key changes nothing."
      },
      {
        id: "decide-agent-never",
        find: '&& !(caller.capability === "agent" && policy.agent === "never")',
        put: "",
        why: "What is closed to agents an agent key may not do."
      },
      {
        id: "decide-read-mint",
        find: 'read: new Set<CallEffect>(["self", "read"])',
        put: 'read: new Set<CallEffect>(["self", "read", "mint"])',
        why: "A read-only key mints no secrets."
      },
      {
        id: "decide-agent-write",
        find: 'agent: new Set<CallEffect>(["self", "read", "sandbox", "mint"])',
        put: 'agent: new Set<CallEffect>(["self", "read", "write", "sandbox", "mint"])',
        why: "An agent key works in sandboxes only."
      },
      {
        id: "decide-width",
        find: "width[scope.type] < width[policy.reach]",
        put: "width[scope.type] <= width[policy.reach]",
        why: "A key as wide as the call's reach is wide enough."
      },
      {
        id: "decide-width-order",
        find: "{ organization: 2, project: 1, branch: 0 }",
        put: "{ organization: 2, project: 1, branch: 1 }",
        why: "A branch key does not reach what needs a project key."
      },
      {
        id: "decide-project",
        find: "if (ids.project_id !== undefined && ids.project_id !== scope.project_id) return false",
        put: "",
        why: "A project key does not reach another project."
      },
      {
        id: "decide-branch",
        find: "ids.branch_id === undefined || ids.branch_id === scope.branch_id",
        put: "true",
        why: "A branch key does not reach another branch."
      },
      {
        id: "decide-narrow-key",
        find: 'if (policy.target === "api_key") return ids.api_key_id === api_key_id',
        put: "",
        why: "A narrow key sees itself and no other key."
      },
      {
        id: "decide-agent-main",
        find: "branch === undefined || branch.main) return false",
        put: "branch === undefined) return false",
        why: "An agent key does nothing to the main branch."
      },
      {
        id: "decide-agent-unknown",
        find: 'rule === "never" || branch === undefined ||',
        put: 'rule === "never" ||',
        why: "Without a branch the rule for agents refuses.",
        tests: ["packages/core/test/authorization/decide.test.ts"]
      },
      {
        id: "decide-agent-made",
        find: 'rule === "not_main" || branch.made_by_agent',
        put: 'rule === "not_main" || true',
        why: "An agent key changes only branches that an agent key made."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/authorization/Permission.ts",
    tests: [
      "packages/core/test/authorization/decide.edges.test.ts",
      "packages/core/test/authorization/decide.test.ts",
      "packages/core/test/authorization/decide.everyCall.test.ts",
      "packages/core/test/organizations/roleChange.test.ts",
      "packages/core/test/organizations/Organizations.test.ts"
    ],
    faults: [
      {
        id: "permission-viewer",
        find: 'const viewer: ReadonlyArray<Permission> = ["read", "mint_read_only"',
        put: 'const viewer: ReadonlyArray<Permission> = ["read", "mint_read_write"',
        why: "A viewer mints read-only secrets."
      },
      {
        id: "permission-member",
        find: 'const member: ReadonlyArray<Permission> = [...viewer, "create_projects",',
        put: 'const member: ReadonlyArray<Permission> = [...viewer, "create_projects", "delete_projects",',
        why: "A member deletes no projects."
      },
      {
        id: "permission-admin",
        find: '[...admin, "manage_owners", "delete_organization"]',
        put: '[...admin, "manage_owners"]',
        why: "An owner may delete the organization."
      },
      {
        id: "permission-covers",
        find: "knownRoles.indexOf(other) <= knownRoles.indexOf(role)",
        put: "knownRoles.indexOf(other) < knownRoles.indexOf(role)",
        why: "A role covers itself."
      },
      {
        id: "permission-covers-above",
        find: "knownRoles.indexOf(other) <= knownRoles.indexOf(role)",
        put: "knownRoles.indexOf(other) >= knownRoles.indexOf(role)",
        why: "No member grants a role above their own."
      },
      {
        id: "permission-covers-unknown",
        find: "isKnown(role) && isKnown(other) &&",
        put: "isKnown(role) &&",
        why: "A role that is not known is covered by none."
      }
    ]
  }
]

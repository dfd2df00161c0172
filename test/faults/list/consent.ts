/** Invitations that people accept, and the one that a first sign-in accepts. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const consent: ReadonlyArray<FaultsOfFile> = [
  {
    area: "credentials",
    file: "packages/core/src/sign-in/SignIn.ts",
    tests: ["packages/core/test/sign-in/SignIn.invitations.test.ts"],
    faults: [
      {
        id: "sign-in-joins-newest",
        find: "if (Option.isSome(joined)) return joined.value.org_id",
        put: 'if (Option.isSome(joined) && invitation.org_id === "") return joined.value.org_id',
        why: "Of several invitations a first sign-in accepts one, and lands there."
      },
      {
        id: "sign-in-lost-answer",
        find: "landing: Option.getOrElse(landed, () => personalOrgId(user.id)) }",
        put: "landing: Option.getOrElse(Option.filter(landed, () => false), () => personalOrgId(user.id)) }",
        why: "A sign-in after a lost answer still says where the first one led."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/sign-in/acceptInvitation.ts",
    tests: [
      "packages/core/test/organizations/OwnInvitations.test.ts",
      "packages/core/test/sign-in/SignIn.invitations.test.ts"
    ],
    faults: [
      {
        id: "invitation-of-another",
        find: '(it) => it.email === address && it.statusAt(now) === "pending"',
        put: '(it) => it.statusAt(now) === "pending"',
        why: "An invitation is for the person of its address alone."
      },
      {
        id: "invitation-twice",
        find: '(it) => it.email === address && it.statusAt(now) === "pending"',
        put: "(it) => it.email === address",
        why: "An invitation that ended is not accepted."
      },
      {
        id: "invitation-of-demoted",
        find: "return may ? person : undefined",
        put: "return may || person?.disabled_at === null ? person : undefined",
        why: "An inviter who lost the right brings no one in."
      },
      {
        id: "accepted-names-inviter",
        find: 'by === "landing" ? new UserProfile',
        put: "by !== undefined ? new UserProfile",
        why: "A membership that the person accepted needs no confirmation."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/sign-in/Sessions.ts",
    tests: ["packages/core/test/sign-in/SignIn.invitations.test.ts"],
    faults: [
      {
        id: "switch-confirms",
        find: "if (Option.exists(membership, ({ invited_by }) => invited_by !== null)) yield*",
        put: "if (Option.exists(membership, ({ invited_by }) => invited_by === null)) yield*",
        why: "Switching to an organization confirms its membership."
      }
    ]
  }
]

/**
 * The inviter of a member whose first sign-in led into the organization, until the member confirms the membership.
 * Instances of the version before neither read nor change it.
 */
export const consent = `
alter table membership add column invited_by jsonb;
`

/**
 * Indexes for lists that are read page by page, by organization or user and then by id, and for the questions of one
 * row: another owner, the number of pending invitations. They replace the indexes of lists that were read whole.
 */
export const lists = `
create index on api_key (org_id, id desc) where revoked_at is null;
create index on api_key (org_id, creator_id, id desc) where revoked_at is null;
drop index if exists api_key_org_id_created_at_id_idx;
drop index if exists api_key_org_id_creator_id_created_at_id_idx;
create index on membership (user_id, org_id);
drop index if exists membership_user_id_idx;
create index on membership (org_id, user_id) where role = 'owner';
create index on invitation (org_id, expires_at) where accepted_at is null and revoked_at is null;
`

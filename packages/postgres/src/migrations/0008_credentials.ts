/**
 * The person who minted a role, and how far its end has come. Columns are the members of `BranchRole`.
 *
 * Rows from before have no person (`minted_by` null): they stay valid until they are revoked or expire. Instances of
 * the version before insert rows without the new columns, so none is required.
 */
export const credentials = `
alter table branch_role
  add column org_id       text collate "C",
  add column minted_by    jsonb,
  add column api_key_id   text collate "C",
  add column api_key_name text,
  add column applied_at   timestamptz,
  add column removed_at   timestamptz,
  add column minter_id    text collate "C" generated always as (minted_by->>'id') stored;

update branch_role r set org_id = p.org_id from project p where p.id = r.project_id;

create index on branch_role (branch_id, created_at desc, role desc) where removed_at is null;
create index on branch_role (minter_id, org_id) where revoked_at is null and minter_id is not null;
create index on branch_role (api_key_id) where revoked_at is null and api_key_id is not null;
create index on branch_role (project_id) where revoked_at is null;
create index on branch_role (branch_id) where removed_at is null and revoked_at is not null;
create index on branch_role (expires_at) where removed_at is null and expires_at is not null;
`

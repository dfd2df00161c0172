/** Indexes by which ended records are found, and by which it is known that nothing refers to them. */
export const retention = `
create index on project (deleted_at) where deleted_at is not null;
create index on branch (deleted_at) where deleted_at is not null;
create index on branch (project_id);
create index on branch (parent_id) where parent_id is not null;
create index on endpoint (deleted_at) where deleted_at is not null;
create index on endpoint (branch_id);
create index on branch_role (revoked_at) where revoked_at is not null;
create index on branch_role (expires_at) where expires_at is not null;
create index on api_key (revoked_at) where revoked_at is not null;
create index on api_key (expires_at) where expires_at is not null;
create index on api_key (scope_project) where scope_project is not null;
create index on api_key (scope_branch) where scope_branch is not null;
create index on invitation (expires_at);
create index on invitation (accepted_at) where accepted_at is not null;
create index on invitation (revoked_at) where revoked_at is not null;
create index on operation (project_id, copies) where copies is not null;
`

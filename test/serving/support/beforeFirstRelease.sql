-- The schema of the last version before the first release, by pg_dump, and the records of its migrations.
set check_function_bodies = false;
CREATE FUNCTION public.endpoint_dated() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if new.started_at is null then
    new.ran_since := null;
  elsif new.started_at is distinct from old.started_at then
    new.ran_since := clock_timestamp();
    new.used_at := clock_timestamp();
  end if;
  if new.started_at is not distinct from old.started_at then
    new.used_at := greatest(new.used_at, least(new.last_active_at, clock_timestamp()));
  end if;
  return new;
end $$;
CREATE FUNCTION public.event_id(ms bigint, r40 bigint, c32 bigint) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
  select (lpad(to_hex(ms), 12, '0') || lpad(to_hex(r40), 10, '0') || lpad(to_hex(c32), 8, '0') || '00')::uuid
$$;
CREATE FUNCTION public.event_joined() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
begin
  execute format('update %I.event_outbox set seq = default where seq = $1', tg_table_schema) using new.seq;
  return null;
end $_$;
CREATE FUNCTION public.event_sequence(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
  h event_head;
  v_ms bigint;
  v_r bigint;
  v_c bigint;
  v_timeline text;
  v_trimmed uuid;
  n int;
begin
  if not exists (select 1 from event_outbox) then return 0; end if;       -- idle poll writes nothing
  select * into h from event_head where one for update skip locked;       -- exclusion; vanishes with the backend
  if not found then return -1; end if;                                    -- somebody else is on it
  v_ms := (extract(epoch from clock_timestamp()) * 1000)::bigint;         -- one clock for all instances
  v_timeline := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  v_trimmed := h.trimmed_to;
  if v_timeline <> h.timeline then
    -- This server may lack events that the former one has sent. Their ids may share our last millisecond, so start
    -- a later one, and let every id from before it gap.
    v_ms := greatest(v_ms, h.ms + 1);
  end if;
  if v_ms > h.ms then
    v_r := (random() * 1099511627775)::bigint;
    v_c := 0;
  else                                                                    -- clock stood still or went back
    v_ms := h.ms;
    v_r := h.r40;
    v_c := h.c32;
  end if;
  if v_timeline <> h.timeline then v_trimmed := event_id(v_ms, v_r, v_c); end if;
  with taken as (
    delete from event_outbox where seq = any (array(select seq from event_outbox order by seq limit p_limit))
    returning *                                                           -- delete returning: safe under stale snapshots
  ), num as (
    select t.*, row_number() over (order by seq) rn from taken t
  ), ins as (
    insert into event_log (pos, id, org_id, project_id, type, source, region_id, at, internal, data)
    select h.pos + rn, event_id(v_ms, v_r, v_c + rn), org_id, project_id, type, source, region_id, at, internal, data
    from num order by rn returning 1
  )
  select count(*) into n from ins;
  if n > 0 then
    update event_head
    set pos = h.pos + n, ms = v_ms, r40 = v_r, c32 = v_c + n, trimmed_to = v_trimmed, timeline = v_timeline
    where one;
    perform pg_notify('events', (h.pos + n)::text);                       -- the only notify in the system
  end if;
  return n;
end $$;
CREATE FUNCTION public.host_session_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into spent_id_token as spent (digest, expires_at)
  values (new.id_token_digest, new.revoked_at + interval '400 days')
  on conflict (digest) do update set expires_at = greatest(spent.expires_at, excluded.expires_at);
  return null;
end $$;
CREATE FUNCTION public.operation_candidates(p_class text, p_org text, p_now timestamp with time zone, p_per_parent integer, p_but text[]) RETURNS TABLE(id text, project text)
    LANGUAGE sql STABLE
    SET enable_seqscan TO 'off'
    AS $$
  with recursive lane as (
    (select h.project_id, h.lane from operation_head h where h.class = p_class and h.org_id = p_org
     order by h.project_id, h.lane limit 1)
    union all
    select n.project_id, n.lane from lane cross join lateral (
      select h.project_id, h.lane from operation_head h
      where h.class = p_class and h.org_id = p_org and (h.project_id, h.lane) > (lane.project_id, lane.lane)
      order by h.project_id, h.lane limit 1) n
  ), claimed as (
    select h.project_id, h.lane from operation_head h
    where h.class = p_class and h.leased_until > p_now and h.org_id = p_org
  )
  select c.operation_id, lane.project_id
  from lane
  cross join lateral (
    select f.operation_id, f.position from (
      (select h.operation_id, h.position from operation_head h
       where h.class = p_class and h.org_id = p_org and h.project_id = lane.project_id and h.lane = lane.lane
         and h.due_at = to_timestamp(0) and h.operation_id <> all (p_but)
       order by h.position limit 1)
      union all
      (select h.operation_id, h.position from operation_head h
       where h.class = p_class and h.org_id = p_org and h.project_id = lane.project_id and h.lane = lane.lane
         and h.due_at > to_timestamp(0) and h.due_at <= p_now and h.operation_id <> all (p_but)
       order by h.due_at, h.position limit 1)
    ) f order by f.position limit 1
  ) c
  left join operation_turn t on t.class = p_class and t.org_id = p_org and t.project_id = lane.project_id
  where lane.lane = '' or (
    (select count(*) from claimed where claimed.lane = lane.lane) < p_per_parent
    and not exists (
      select 1 from operation w
      where w.branch_id = lane.lane and w.status in ('scheduling', 'running', 'cancelling')
        and w.action in ('create_timeline', 'create_branch', 'reset_branch')))
  order by (select count(*) from claimed where claimed.project_id = lane.project_id), coalesce(t.served, 0),
    lane.project_id, c.position
$$;
CREATE FUNCTION public.operation_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  was_open boolean := tg_op <> 'INSERT' and operation_is_open(old.status);
  is_open boolean := tg_op <> 'DELETE' and operation_is_open(new.status);
  v_branch text := case when tg_op = 'DELETE' then old.branch_id else new.branch_id end;
  v_next operation;
begin
  if was_open and is_open then
    if new.retry_at is distinct from old.retry_at or new.lease_until is distinct from old.lease_until then
      update operation_head
      set due_at = operation_due_at(new.retry_at, new.lease_until), leased_until = new.lease_until
      where operation_id = new.id;
    end if;
    return null;
  end if;
  if not was_open and not is_open then return null; end if;
  if v_branch is not null then
    perform pg_advisory_xact_lock(hashtextextended('operation ' || v_branch, 0));
  end if;
  if is_open then
    perform operation_put_head(new);
    return null;
  end if;
  delete from operation_head where operation_id = old.id;
  if v_branch is not null then
    select * into v_next from operation
    where branch_id = v_branch and status in ('scheduling', 'running', 'cancelling') order by position limit 1;
    if found then perform operation_put_head(v_next); end if;
  end if;
  return null;
end $$;
CREATE TABLE public.operation (
    id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    org_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    branch_id text COLLATE pg_catalog."C",
    endpoint_id text COLLATE pg_catalog."C",
    action text NOT NULL,
    status text NOT NULL,
    error text,
    failures_count integer NOT NULL,
    retry_at timestamp with time zone,
    initiator jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    lease_owner text,
    lease_until timestamp with time zone,
    copies text COLLATE pg_catalog."C",
    fence bigint DEFAULT 0 NOT NULL,
    busy_since timestamp with time zone
);
CREATE FUNCTION public.operation_claim(p_class text, p_worker text, p_now timestamp with time zone, p_until timestamp with time zone, p_per_org integer, p_per_parent integer) RETURNS SETOF public.operation
    LANGUAGE plpgsql
    AS $$
begin
  return query select * from operation_claim_in(p_class, p_worker, p_now, p_until, p_per_org, p_per_parent);
  if p_class = 'branches' and not found then
    return query select * from operation_claim_in('deletions', p_worker, p_now, p_until, p_per_org, p_per_parent);
  end if;
end $$;
CREATE FUNCTION public.operation_claim_in(p_class text, p_worker text, p_now timestamp with time zone, p_until timestamp with time zone, p_per_org integer, p_per_parent integer) RETURNS SETOF public.operation
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_org text;
  v_person text;
  v_id text;
  v_project text;
  v_fence bigint;
  v_locked text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtextextended('operation_claim ' || p_class, 0));
  for v_org, v_person in
    with recursive org (id) as (
      (select h.org_id from operation_head h where h.class = p_class order by h.org_id limit 1)
      union all
      select n.org_id from org cross join lateral (
        select h.org_id from operation_head h where h.class = p_class and h.org_id > org.id
        order by h.org_id limit 1) n
    ), claimed as (
      select h.org_id, count(*) as n from operation_head h where h.class = p_class and h.leased_until > p_now
      group by h.org_id
    ), waiting as materialized (
      select org.id, organization_person(org.id) as person, coalesce(claimed.n, 0) as n
      from org left join claimed on claimed.org_id = org.id
    ), counted as (
      select w.id, w.person, w.n, sum(w.n) over (partition by w.person) as of_person from waiting w
    )
    select c.id, c.person from counted c
    left join operation_person_turn p on p.class = p_class and p.person = c.person
    left join operation_turn t on t.class = p_class and t.org_id = c.id and t.project_id = ''
    where c.of_person < p_per_org
    order by c.of_person, coalesce(p.served, 0), c.person, c.n, coalesce(t.served, 0), c.id
  loop
    loop
      select c.id, c.project into v_id, v_project
      from operation_candidates(p_class, v_org, p_now, p_per_parent, v_locked) c limit 1;
      exit when not found;
      perform 1 from operation o
      where o.id = v_id and o.status in ('scheduling', 'running', 'cancelling')
        and (o.lease_until is null or o.lease_until <= p_now) and (o.retry_at is null or o.retry_at <= p_now)
      for update skip locked;
      if found then
        v_fence := nextval('operation_fence');
        insert into operation_person_turn values (p_class, v_person, v_fence)
        on conflict (class, person) do update set served = excluded.served;
        insert into operation_turn values (p_class, v_org, '', v_fence), (p_class, v_org, v_project, v_fence)
        on conflict (class, org_id, project_id) do update set served = excluded.served;
        return query update operation set lease_owner = p_worker, lease_until = p_until, fence = v_fence
          where operation.id = v_id returning *;
        return;
      end if;
      v_locked := v_locked || v_id;               -- a transaction is changing it
    end loop;
  end loop;
end $$;
CREATE FUNCTION public.operation_class(action text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select case
    when action in ('create_compute', 'start_compute', 'suspend_compute', 'delete_compute') then 'computes'
    when action = 'apply_config' then 'roles'
    when action = 'delete_timeline' then 'deletions'
    else 'branches' end
$$;
CREATE FUNCTION public.operation_due_at(retry_at timestamp with time zone, lease_until timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select coalesce(greatest(retry_at, lease_until), to_timestamp(0))
$$;
CREATE FUNCTION public.operation_is_open(status text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select status in ('scheduling', 'running', 'cancelling')
$$;
CREATE FUNCTION public.operation_put_head(o public.operation) RETURNS void
    LANGUAGE sql
    AS $$
  insert into operation_head (operation_id, branch_id, class, org_id, project_id, lane, position, due_at, leased_until)
  values (o.id, o.branch_id, operation_class(o.action), o.org_id, o.project_id, coalesce(o.copies, ''), o.position,
    operation_due_at(o.retry_at, o.lease_until), o.lease_until)
  on conflict do nothing                          -- the branch has an earlier one
$$;
CREATE FUNCTION public.organization_person(p_org text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select coalesce(
    (select o.id from organization o where o.id = p_org and o.personal),
    (select f.user_id from organization_founder f
     where f.org_id = p_org and exists (
       select 1 from membership m where m.org_id = p_org and m.user_id = f.user_id and m.role = 'owner')),
    (select m.user_id from membership m where m.org_id = p_org and m.role = 'owner'
     order by m.joined_at, m.user_id limit 1),
    p_org)
$$;
CREATE TABLE public.api_key (
    id text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    hint text NOT NULL,
    capability text NOT NULL,
    scope jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by jsonb NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    last_used_from text,
    revoked_at timestamp with time zone,
    revoked_reason text,
    creator_id text GENERATED ALWAYS AS ((created_by ->> 'id'::text)) STORED NOT NULL COLLATE pg_catalog."C",
    scope_project text GENERATED ALWAYS AS ((scope ->> 'project_id'::text)) STORED COLLATE pg_catalog."C",
    scope_branch text GENERATED ALWAYS AS ((scope ->> 'branch_id'::text)) STORED COLLATE pg_catalog."C"
);
CREATE TABLE public.api_key_secret (
    digest text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    "position" integer NOT NULL,
    pepper_id text NOT NULL,
    dies_at timestamp with time zone
);
CREATE TABLE public.branch (
    id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    region_id text NOT NULL,
    parent_id text COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    current_state text NOT NULL,
    pending_state text,
    "default" boolean NOT NULL,
    protected boolean NOT NULL,
    made_by_agent boolean NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    created_by jsonb,
    deleted_at timestamp with time zone,
    made_by_key_id text COLLATE pg_catalog."C"
);
CREATE TABLE public.branch_disk (
    branch_id text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL,
    measured_at timestamp with time zone
);
CREATE TABLE public.branch_role (
    branch_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    access text NOT NULL,
    verifier text NOT NULL,
    minted_by_agent boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    org_id text COLLATE pg_catalog."C",
    minted_by jsonb,
    api_key_id text COLLATE pg_catalog."C",
    api_key_name text,
    applied_at timestamp with time zone,
    removed_at timestamp with time zone,
    minter_id text GENERATED ALWAYS AS ((minted_by ->> 'id'::text)) STORED COLLATE pg_catalog."C"
);
CREATE TABLE public.cli_grant (
    code_digest text NOT NULL COLLATE pg_catalog."C",
    state_digest text NOT NULL COLLATE pg_catalog."C",
    code_challenge text NOT NULL,
    redirect_uri text NOT NULL,
    user_id text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    capability text NOT NULL,
    scope jsonb NOT NULL,
    expires_in_days integer,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    consumed_at timestamp with time zone,
    wrong_verifiers integer NOT NULL
);
CREATE TABLE public.client_refusal (
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    branch_id text NOT NULL COLLATE pg_catalog."C",
    role text COLLATE pg_catalog."C",
    reason text NOT NULL,
    count bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    "position" text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.compute_doubt (
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.compute_home (
    one boolean DEFAULT true NOT NULL,
    home text NOT NULL,
    CONSTRAINT compute_home_one_check CHECK (one)
);
CREATE TABLE public.endpoint (
    id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    branch_id text NOT NULL COLLATE pg_catalog."C",
    region_id text NOT NULL,
    type text NOT NULL,
    current_state text NOT NULL,
    pending_state text,
    disabled boolean NOT NULL,
    suspend_timeout_seconds integer NOT NULL,
    last_active_at timestamp with time zone,
    started_at timestamp with time zone,
    suspended_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    generation bigint NOT NULL,
    address text,
    connections integer NOT NULL,
    deleted_at timestamp with time zone,
    ran_since timestamp with time zone,
    used_at timestamp with time zone,
    reach jsonb
);
CREATE TABLE public.endpoint_use (
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    proxy_id text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    sequence bigint NOT NULL,
    connections integer NOT NULL,
    busy integer NOT NULL,
    reported_at timestamp with time zone NOT NULL
);
CREATE TABLE public.event_floor (
    org_id uuid NOT NULL,
    trimmed_to uuid NOT NULL
);
CREATE TABLE public.event_head (
    one boolean DEFAULT true NOT NULL,
    pos bigint NOT NULL,
    ms bigint NOT NULL,
    r40 bigint NOT NULL,
    c32 bigint NOT NULL,
    trimmed_to uuid,
    timeline text,
    CONSTRAINT event_head_one_check CHECK (one)
)
WITH (fillfactor='10');
CREATE TABLE public.event_log (
    pos bigint NOT NULL,
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    project_id text COLLATE pg_catalog."C",
    type text NOT NULL,
    source text NOT NULL,
    region_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    internal boolean NOT NULL,
    data jsonb NOT NULL
);
CREATE TABLE public.event_outbox (
    seq bigint NOT NULL,
    org_id uuid NOT NULL,
    project_id text COLLATE pg_catalog."C",
    type text NOT NULL,
    source text NOT NULL,
    region_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    internal boolean DEFAULT false NOT NULL,
    data jsonb NOT NULL,
    written_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    joined boolean DEFAULT false NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');
ALTER TABLE public.event_outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.event_outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE public.idempotency_attempt
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.idempotency_record (
    owner text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL,
    attempt bigint NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    answer jsonb
);
CREATE TABLE public.invitation (
    id text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    invited_by jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone
);
CREATE TABLE public.ip_allowlist (
    project_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL
);
CREATE TABLE public.ip_rule (
    project_id text NOT NULL COLLATE pg_catalog."C",
    cidr text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by jsonb NOT NULL,
    expires_at timestamp with time zone,
    "position" bigint NOT NULL
);
ALTER TABLE public.ip_rule ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ip_rule_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.membership (
    org_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    invited_by jsonb
);
CREATE TABLE public.narthex_migration (
    name text NOT NULL,
    checksum text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE SEQUENCE public.operation_fence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.operation_head (
    operation_id text NOT NULL COLLATE pg_catalog."C",
    branch_id text COLLATE pg_catalog."C",
    class text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone
);
CREATE TABLE public.operation_person_turn (
    class text NOT NULL COLLATE pg_catalog."C",
    person text NOT NULL COLLATE pg_catalog."C",
    served bigint NOT NULL
);
ALTER TABLE public.operation ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.operation_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.operation_turn (
    class text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    served bigint NOT NULL
);
CREATE TABLE public.organization (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    personal boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE TABLE public.organization_founder (
    org_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.project (
    id text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    region_id text NOT NULL,
    default_branch_id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE TABLE public.quota_override (
    org_id text NOT NULL COLLATE pg_catalog."C",
    quota text NOT NULL COLLATE pg_catalog."C",
    allowed bigint NOT NULL
);
CREATE UNLOGGED TABLE public.rate_limit (
    limit_name text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    "window" bigint NOT NULL,
    taken bigint NOT NULL,
    taken_before bigint NOT NULL,
    stale_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.refusal_report (
    proxy_id text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    reported_at timestamp with time zone NOT NULL
);
CREATE TABLE public.region (
    region_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    "default" boolean NOT NULL,
    geo_lat double precision NOT NULL,
    geo_long double precision NOT NULL,
    location text,
    active boolean NOT NULL,
    "position" integer NOT NULL
);
CREATE TABLE public.report_reception (
    one boolean DEFAULT true NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE TABLE public.session (
    id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    active_org_id text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    refreshed_at timestamp with time zone NOT NULL,
    signed_in_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    revoked_reason text,
    provider text NOT NULL,
    user_agent text,
    address text,
    id_token_digest text NOT NULL
);
CREATE TABLE public.signing_key (
    kid text NOT NULL COLLATE pg_catalog."C",
    public_jwk text NOT NULL,
    wrapped_private text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    active_from timestamp with time zone NOT NULL,
    retired_until timestamp with time zone
);
CREATE TABLE public.spent_id_token (
    digest text NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.static_compute (
    address text NOT NULL COLLATE pg_catalog."C",
    branch_id text NOT NULL COLLATE pg_catalog."C",
    given_at timestamp with time zone DEFAULT now() NOT NULL,
    fence bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.static_compute_running (
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    branch_id text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL
);
CREATE TABLE public.user_account (
    id text NOT NULL COLLATE pg_catalog."C",
    issuer text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    email text,
    email_verified boolean NOT NULL,
    name text,
    created_at timestamp with time zone NOT NULL,
    enabled_at timestamp with time zone,
    disabled_at timestamp with time zone
);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_key_secret
    ADD CONSTRAINT api_key_secret_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.branch_disk
    ADD CONSTRAINT branch_disk_pkey PRIMARY KEY (branch_id);
ALTER TABLE ONLY public.branch
    ADD CONSTRAINT branch_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.branch_role
    ADD CONSTRAINT branch_role_pkey PRIMARY KEY (branch_id, role);
ALTER TABLE ONLY public.cli_grant
    ADD CONSTRAINT cli_grant_pkey PRIMARY KEY (code_digest);
ALTER TABLE ONLY public.cli_grant
    ADD CONSTRAINT cli_grant_state_digest_key UNIQUE (state_digest);
ALTER TABLE ONLY public.client_refusal
    ADD CONSTRAINT client_refusal_pkey PRIMARY KEY (endpoint_id, address);
ALTER TABLE ONLY public.compute_doubt
    ADD CONSTRAINT compute_doubt_pkey PRIMARY KEY (endpoint_id);
ALTER TABLE ONLY public.compute_home
    ADD CONSTRAINT compute_home_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.endpoint
    ADD CONSTRAINT endpoint_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.endpoint_use
    ADD CONSTRAINT endpoint_use_pkey PRIMARY KEY (endpoint_id, proxy_id);
ALTER TABLE ONLY public.event_floor
    ADD CONSTRAINT event_floor_pkey PRIMARY KEY (org_id);
ALTER TABLE ONLY public.event_head
    ADD CONSTRAINT event_head_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.event_log
    ADD CONSTRAINT event_log_pkey PRIMARY KEY (pos);
ALTER TABLE ONLY public.event_outbox
    ADD CONSTRAINT event_outbox_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.idempotency_record
    ADD CONSTRAINT idempotency_record_pkey PRIMARY KEY (owner, key);
ALTER TABLE ONLY public.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ip_allowlist
    ADD CONSTRAINT ip_allowlist_pkey PRIMARY KEY (project_id);
ALTER TABLE ONLY public.ip_rule
    ADD CONSTRAINT ip_rule_pkey PRIMARY KEY (project_id, cidr);
ALTER TABLE ONLY public.membership
    ADD CONSTRAINT membership_pkey PRIMARY KEY (org_id, user_id);
ALTER TABLE ONLY public.narthex_migration
    ADD CONSTRAINT narthex_migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.operation_head
    ADD CONSTRAINT operation_head_branch_id_key UNIQUE (branch_id);
ALTER TABLE ONLY public.operation_head
    ADD CONSTRAINT operation_head_pkey PRIMARY KEY (operation_id);
ALTER TABLE ONLY public.operation_person_turn
    ADD CONSTRAINT operation_person_turn_pkey PRIMARY KEY (class, person);
ALTER TABLE ONLY public.operation
    ADD CONSTRAINT operation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operation_turn
    ADD CONSTRAINT operation_turn_pkey PRIMARY KEY (class, org_id, project_id);
ALTER TABLE ONLY public.organization_founder
    ADD CONSTRAINT organization_founder_pkey PRIMARY KEY (org_id);
ALTER TABLE ONLY public.organization
    ADD CONSTRAINT organization_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.quota_override
    ADD CONSTRAINT quota_override_pkey PRIMARY KEY (org_id, quota);
ALTER TABLE ONLY public.rate_limit
    ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (limit_name, subject);
ALTER TABLE ONLY public.refusal_report
    ADD CONSTRAINT refusal_report_pkey PRIMARY KEY (proxy_id);
ALTER TABLE ONLY public.region
    ADD CONSTRAINT region_pkey PRIMARY KEY (region_id);
ALTER TABLE ONLY public.report_reception
    ADD CONSTRAINT report_reception_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.signing_key
    ADD CONSTRAINT signing_key_pkey PRIMARY KEY (kid);
ALTER TABLE ONLY public.spent_id_token
    ADD CONSTRAINT spent_id_token_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.static_compute
    ADD CONSTRAINT static_compute_branch_id_key UNIQUE (branch_id);
ALTER TABLE ONLY public.static_compute
    ADD CONSTRAINT static_compute_pkey PRIMARY KEY (address);
ALTER TABLE ONLY public.static_compute_running
    ADD CONSTRAINT static_compute_running_pkey PRIMARY KEY (endpoint_id);
ALTER TABLE ONLY public.user_account
    ADD CONSTRAINT user_account_identity UNIQUE (issuer, subject);
ALTER TABLE ONLY public.user_account
    ADD CONSTRAINT user_account_pkey PRIMARY KEY (id);
CREATE INDEX api_key_expires_at_idx ON public.api_key USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX api_key_org_id_creator_id_id_idx ON public.api_key USING btree (org_id, creator_id, id DESC) WHERE (revoked_at IS NULL);
CREATE INDEX api_key_org_id_id_idx ON public.api_key USING btree (org_id, id DESC) WHERE (revoked_at IS NULL);
CREATE INDEX api_key_revoked_at_idx ON public.api_key USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX api_key_scope_branch_idx ON public.api_key USING btree (scope_branch) WHERE ((revoked_at IS NULL) AND (scope_branch IS NOT NULL));
CREATE INDEX api_key_scope_branch_idx1 ON public.api_key USING btree (scope_branch) WHERE (scope_branch IS NOT NULL);
CREATE INDEX api_key_scope_project_idx ON public.api_key USING btree (scope_project) WHERE ((revoked_at IS NULL) AND (scope_project IS NOT NULL));
CREATE INDEX api_key_scope_project_idx1 ON public.api_key USING btree (scope_project) WHERE (scope_project IS NOT NULL);
CREATE INDEX api_key_secret_key_id_idx ON public.api_key_secret USING btree (key_id);
CREATE INDEX branch_deleted_at_idx ON public.branch USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX branch_disk_org_id_idx ON public.branch_disk USING btree (org_id);
CREATE INDEX branch_expires_at_idx ON public.branch USING btree (expires_at) WHERE ((deleted_at IS NULL) AND (expires_at IS NOT NULL));
CREATE UNIQUE INDEX branch_name ON public.branch USING btree (project_id, name) WHERE (deleted_at IS NULL);
CREATE INDEX branch_parent_id_idx ON public.branch USING btree (parent_id) WHERE ((deleted_at IS NULL) AND (parent_id IS NOT NULL));
CREATE INDEX branch_parent_id_idx1 ON public.branch USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX branch_project_id_id_idx ON public.branch USING btree (project_id, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX branch_project_id_idx ON public.branch USING btree (project_id);
CREATE INDEX branch_role_api_key_id_idx ON public.branch_role USING btree (api_key_id) WHERE ((revoked_at IS NULL) AND (api_key_id IS NOT NULL));
CREATE INDEX branch_role_branch_id_created_at_role_idx ON public.branch_role USING btree (branch_id, created_at DESC, role DESC) WHERE (removed_at IS NULL);
CREATE INDEX branch_role_branch_id_idx ON public.branch_role USING btree (branch_id) WHERE ((removed_at IS NULL) AND (revoked_at IS NOT NULL));
CREATE INDEX branch_role_expires_at_idx ON public.branch_role USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX branch_role_expires_at_idx1 ON public.branch_role USING btree (expires_at) WHERE ((removed_at IS NULL) AND (expires_at IS NOT NULL));
CREATE INDEX branch_role_minter_id_org_id_idx ON public.branch_role USING btree (minter_id, org_id) WHERE ((revoked_at IS NULL) AND (minter_id IS NOT NULL));
CREATE INDEX branch_role_project_id_idx ON public.branch_role USING btree (project_id) WHERE (revoked_at IS NULL);
CREATE INDEX branch_role_revoked_at_idx ON public.branch_role USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX cli_grant_expires_at_idx ON public.cli_grant USING btree (expires_at);
CREATE INDEX client_refusal_last_at_idx ON public.client_refusal USING btree (last_at);
CREATE INDEX client_refusal_project_id_position_idx ON public.client_refusal USING btree (project_id, "position");
CREATE INDEX endpoint_branch_id_id_idx ON public.endpoint USING btree (branch_id, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX endpoint_branch_id_idx ON public.endpoint USING btree (branch_id);
CREATE INDEX endpoint_deleted_at_idx ON public.endpoint USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX endpoint_id_idx ON public.endpoint USING btree (id) WHERE ((deleted_at IS NULL) AND (current_state = 'active'::text));
CREATE INDEX endpoint_project_id_id_idx ON public.endpoint USING btree (project_id, id DESC) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX endpoint_read_write ON public.endpoint USING btree (branch_id) WHERE ((deleted_at IS NULL) AND (type = 'read_write'::text));
CREATE INDEX endpoint_use_reported_at_idx ON public.endpoint_use USING btree (reported_at);
CREATE UNIQUE INDEX event_log_org_id_id_idx ON public.event_log USING btree (org_id, id);
CREATE INDEX event_log_org_id_project_id_id_idx ON public.event_log USING btree (org_id, project_id, id) WHERE (project_id IS NOT NULL);
CREATE INDEX idempotency_record_expires_at_idx ON public.idempotency_record USING btree (expires_at);
CREATE INDEX invitation_accepted_at_idx ON public.invitation USING btree (accepted_at) WHERE (accepted_at IS NOT NULL);
CREATE INDEX invitation_email_id_idx ON public.invitation USING btree (email, id DESC) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX invitation_expires_at_idx ON public.invitation USING btree (expires_at);
CREATE INDEX invitation_org_id_expires_at_idx ON public.invitation USING btree (org_id, expires_at) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX invitation_org_id_id_idx ON public.invitation USING btree (org_id, id DESC);
CREATE INDEX invitation_revoked_at_idx ON public.invitation USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX membership_org_id_user_id_idx ON public.membership USING btree (org_id, user_id) WHERE (role = 'owner'::text);
CREATE INDEX membership_owners ON public.membership USING btree (org_id, joined_at, user_id) WHERE (role = 'owner'::text);
CREATE INDEX membership_user_id_org_id_idx ON public.membership USING btree (user_id, org_id);
CREATE INDEX operation_branch_id_id_idx ON public.operation USING btree (branch_id, id DESC);
CREATE INDEX operation_branch_id_position_idx ON public.operation USING btree (branch_id, "position") WHERE (status = ANY (ARRAY['scheduling'::text, 'running'::text, 'cancelling'::text]));
CREATE INDEX operation_finished_at_idx ON public.operation USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX operation_head_due ON public.operation_head USING btree (class, org_id, project_id, lane, due_at, "position");
CREATE INDEX operation_head_leased ON public.operation_head USING btree (class, leased_until) WHERE (leased_until IS NOT NULL);
CREATE INDEX operation_head_soonest ON public.operation_head USING btree (class, due_at);
CREATE INDEX operation_position_idx ON public.operation USING btree ("position") WHERE (status = ANY (ARRAY['scheduling'::text, 'running'::text, 'cancelling'::text]));
CREATE INDEX operation_project_id_copies_idx ON public.operation USING btree (project_id, copies) WHERE (copies IS NOT NULL);
CREATE INDEX operation_project_id_id_idx ON public.operation USING btree (project_id, id DESC);
CREATE INDEX organization_founder_user_id_idx ON public.organization_founder USING btree (user_id);
CREATE INDEX project_deleted_at_idx ON public.project USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX project_org_id_id_idx ON public.project USING btree (org_id, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX rate_limit_stale_at_idx ON public.rate_limit USING btree (stale_at);
CREATE INDEX refusal_report_reported_at_idx ON public.refusal_report USING btree (reported_at);
CREATE UNIQUE INDEX region_one_default ON public.region USING btree ("default") WHERE "default";
CREATE INDEX session_id_token_digest_idx ON public.session USING btree (id_token_digest) WHERE (revoked_at IS NULL);
CREATE INDEX session_signed_in_at_idx ON public.session USING btree (signed_in_at);
CREATE INDEX session_user_id_id_idx ON public.session USING btree (user_id, id DESC) WHERE (revoked_at IS NULL);
CREATE INDEX spent_id_token_expires_at_idx ON public.spent_id_token USING btree (expires_at);
CREATE INDEX static_compute_running_branch_id_idx ON public.static_compute_running USING btree (branch_id);
CREATE TRIGGER endpoint_dated BEFORE UPDATE OF started_at, last_active_at ON public.endpoint FOR EACH ROW WHEN (((old.started_at IS DISTINCT FROM new.started_at) OR (old.last_active_at IS DISTINCT FROM new.last_active_at))) EXECUTE FUNCTION public.endpoint_dated();
CREATE CONSTRAINT TRIGGER event_joined AFTER INSERT ON public.event_outbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.joined) EXECUTE FUNCTION public.event_joined();
CREATE TRIGGER host_session_ended AFTER UPDATE OF revoked_at ON public.session FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL) AND (new.provider = 'host'::text) AND (new.id_token_digest <> ('host '::text || new.id)))) EXECUTE FUNCTION public.host_session_ended();
CREATE TRIGGER operation_changed AFTER INSERT OR DELETE OR UPDATE ON public.operation FOR EACH ROW EXECUTE FUNCTION public.operation_changed();
ALTER TABLE ONLY public.api_key_secret
    ADD CONSTRAINT api_key_secret_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_key(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.organization_founder
    ADD CONSTRAINT organization_founder_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organization(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quota_override
    ADD CONSTRAINT quota_override_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organization(id) ON DELETE CASCADE;
insert into public.narthex_migration (name, checksum) values ('0001_events', 'd9d7e310a42b5ef630c5bf2c1a339bc8');
insert into public.narthex_migration (name, checksum) values ('0002_accounts', '15112aba5ea0fc8e2596f5e5142f6cff');
insert into public.narthex_migration (name, checksum) values ('0003_projects', 'b4f8945af458e819d5a120371fe8b36c');
insert into public.narthex_migration (name, checksum) values ('0004_event_floors', '0f2fece004610ab5bc430564928b6e76');
insert into public.narthex_migration (name, checksum) values ('0005_requests', '3461e58d59c43c95682abc80d1f66a93');
insert into public.narthex_migration (name, checksum) values ('0006_sequence_by_key', 'a0ea2366eabf2a0befbf40382b5fc73c');
insert into public.narthex_migration (name, checksum) values ('0007_operations', '433e0bac48a5559e3ee8482ab3d8f99a');
insert into public.narthex_migration (name, checksum) values ('0007b_retention', '86ab50e2f45ba55b5ed46cb99ac2709b');
insert into public.narthex_migration (name, checksum) values ('0008_credentials', 'c485c6c96b373cda91fa42525120e8a5');
insert into public.narthex_migration (name, checksum) values ('0009_quotas', 'cd40e5f682d1581eee87aee6d5e31430');
insert into public.narthex_migration (name, checksum) values ('0010_activity', 'e2f9a6680803c65f59b6add5703857bd');
insert into public.narthex_migration (name, checksum) values ('0011_lists', '85ab06c18e9dcfe35e641b32f3ccf25a');
insert into public.narthex_migration (name, checksum) values ('0012_instances', '12ffc1f8244c477edaf24dfaa78ca085');
insert into public.narthex_migration (name, checksum) values ('0012b_static_computes', 'e106cbef6a681fc0b72694f95a5d0929');
insert into public.narthex_migration (name, checksum) values ('0012c_compute_home', 'aa4909dc3f195730f01c47acdd9dab3e');
insert into public.narthex_migration (name, checksum) values ('0013_consent', '9bc51d919d5adde6eaba3108fc4defc3');
insert into public.narthex_migration (name, checksum) values ('0015_joined_events', '3db9f39966cfeaa4f108f081d7df63e2');
insert into public.narthex_migration (name, checksum) values ('0016_client_refusals', '44f7c703c0d4721243b5af53362fa0ea');
insert into public.narthex_migration (name, checksum) values ('0017_host_sessions', '01f75e9a8a3f0ddf5351ce89faed6919');
insert into public.narthex_migration (name, checksum) values ('0018_branch_keys', '6a02a9318be1c8a8edea49828c2b29e9');
insert into public.narthex_migration (name, checksum) values ('0018b_people', 'b79cb6415533e14768acfcb13f275414');
insert into public.narthex_migration (name, checksum) values ('0019_deletions', '75af92c5f70234c0eeb46d1e792507d1');
insert into public.narthex_migration (name, checksum) values ('0020_host_session_ends', '5933f41f85714bab5c7ac872bf6f2878');
insert into public.narthex_migration (name, checksum) values ('0021_endpoint_use', 'ab32de31f289f632ad3add436d88ad5f');
insert into public.narthex_migration (name, checksum) values ('0022_due_operations', '68b6910c064684c6d7f7af35884f2e77');
insert into public.narthex_migration (name, checksum) values ('0023_compute_reach', 'e764d23281dc544435863a24a4ae4f04');

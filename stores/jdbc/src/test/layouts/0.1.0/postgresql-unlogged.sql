# What version 0.1.0 keeps in PostgreSQL with holdfast.unlogged=true; RowSql, RowCodec and UnloggedRows say what each
# column means.

CREATE UNLOGGED TABLE IF NOT EXISTS holdfast_lock (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  layout smallint NOT NULL,
  version bigint NOT NULL,
  claim_id varchar(32),
  grant_number bigint NOT NULL,
  acquired_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  waiting text NOT NULL,
  sharing text NOT NULL,
  host varchar(255) NOT NULL,
  pid bigint NOT NULL,
  thread varchar(255) NOT NULL,
  label varchar(255) NOT NULL
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000)
CREATE TABLE IF NOT EXISTS holdfast_lock_restart (
  name text NOT NULL PRIMARY KEY,
  highest_number bigint NOT NULL,
  longest_lease bigint NOT NULL,
  pause bigint NOT NULL,
  not_before bigint NOT NULL
  )
CREATE TABLE IF NOT EXISTS holdfast_lock_record (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  token bigint NOT NULL,
  revision bigint NOT NULL,
  written_at bigint NOT NULL,
  keep_until bigint NOT NULL,
  content text NOT NULL
  )
CREATE INDEX IF NOT EXISTS holdfast_lock_record_until ON holdfast_lock_record (keep_until)
CREATE TABLE IF NOT EXISTS holdfast_fence (resource VARCHAR(255) COLLATE "C" NOT NULL PRIMARY KEY, token BIGINT NOT NULL)

# the row without a name is the marker of the table, with the base of its numbers; no number is above the highest
INSERT INTO holdfast_lock VALUES ('', 1, 1, null, 1, 0, 0, '', '', (SELECT concat_ws('/', s.system_identifier, d.oid, 'holdfast_lock'::regclass::oid)
  FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()), 0, '', '')
INSERT INTO holdfast_lock_restart VALUES ('', {now+600s}, 30000000, 0, {now})
INSERT INTO holdfast_lock VALUES ('held', 1, {now}, '{id1}', {now}, {now}, {now+30s}, '', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('broken', 1, {now}, '-', {now}, {now}, {now+30s}, '', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('waited', 1, {now}, '{id2}', {now}, {now}, {now+30s}, '{id3},X,1,1,{channel},{now+10s};', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('readers', 1, {now}, null, 0, 0, {now}, '', '{id4},S,1,1,{now},{now},{now+30s},host,7,main,label;{id5},S,1,1,{now},{now},{now+30s},host,7,main,label;', '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('permits', 1, {now}, null, 0, 0, {now}, '', '{id6},P,2,3,{now},{now},{now+30s},host,7,main,label;{id7},P,1,3,{now},{now},{now+30s},host,7,main,label;', '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('watched', 1, {now}, '{id9}', {now}, {now}, {now+30s}, '', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock_record VALUES ('daily', 2048, {now}, {now}, {now+86400s}, 'done by host')
INSERT INTO holdfast_fence VALUES ('file', 2048)

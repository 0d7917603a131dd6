# What version 0.1.0 keeps in PostgreSQL with mode=session; SessionRow says what each column means. {held}, {broken} and
# {waited} are the numbers by which the server knows the locks, with the table's identity.

CREATE TABLE IF NOT EXISTS holdfast_lock_session (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  layout smallint NOT NULL,
  number integer NOT NULL UNIQUE,
  version bigint NOT NULL,
  claim_id varchar(32),
  grant_number bigint NOT NULL,
  acquired_at bigint NOT NULL,
  session bigint NOT NULL,
  free_at bigint NOT NULL,
  host varchar(255) NOT NULL,
  pid bigint NOT NULL,
  thread varchar(255) NOT NULL,
  label varchar(255) NOT NULL
  ) WITH (fillfactor = 50)

INSERT INTO holdfast_lock_session VALUES ('held', 1, {held}, 1, '{id1}', {now}, {now}, 30000000, 0, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock_session VALUES ('broken', 1, {broken}, 2, '-', {now}, {now}, 30000000, {now+30s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock_session VALUES ('waited', 1, {waited}, 1, '{id2}', {now}, {now}, 30000000, 0, 'host', 7, 'main', 'label')

SELECT pg_advisory_lock('holdfast_lock_session'::regclass::oid::int4, {held})
SELECT pg_advisory_lock('holdfast_lock_session'::regclass::oid::int4, {waited})
# the waiter keeps the gate, 0, and has the ticket 1
SELECT pg_advisory_lock_shared('holdfast_lock_session'::regclass::oid::int4 # {waited}, 0)
SELECT pg_advisory_lock('holdfast_lock_session'::regclass::oid::int4 # {waited}, 1)

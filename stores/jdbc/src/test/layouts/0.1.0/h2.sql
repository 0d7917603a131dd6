# What version 0.1.0 keeps in H2; RowSql and RowCodec say what each column means.

CREATE TABLE IF NOT EXISTS holdfast_lock (
  name VARBINARY(1020) NOT NULL PRIMARY KEY,
  layout SMALLINT NOT NULL,
  version BIGINT NOT NULL,
  claim_id VARCHAR(32),
  grant_number BIGINT NOT NULL,
  acquired_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  waiting VARCHAR(1000000) NOT NULL,
  sharing VARCHAR(1000000) NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid BIGINT NOT NULL,
  thread VARCHAR(255) NOT NULL,
  label VARCHAR(255) NOT NULL
  )
CREATE TABLE IF NOT EXISTS holdfast_lock_record (
  name VARBINARY(1020) NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  written_at BIGINT NOT NULL,
  keep_until BIGINT NOT NULL,
  content VARCHAR(4000) NOT NULL
  )
CREATE INDEX IF NOT EXISTS holdfast_lock_record_until ON holdfast_lock_record (keep_until)
CREATE TABLE IF NOT EXISTS holdfast_fence (resource VARCHAR(255) NOT NULL PRIMARY KEY, token BIGINT NOT NULL)

# the row without a name is that of the table itself
INSERT INTO holdfast_lock VALUES ('', 1, 1, null, 0, 0, 0, '', '', '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('held', 1, {now}, '{id1}', {now}, {now}, {now+30s}, '', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('broken', 1, {now}, '-', {now}, {now}, {now+30s}, '', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('waited', 1, {now}, '{id2}', {now}, {now}, {now+30s}, '{id3},X,1,1,{channel},{now+10s};', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('readers', 1, {now}, null, 0, 0, {now}, '', '{id4},S,1,1,{now},{now},{now+30s},host,7,main,label;{id5},S,1,1,{now},{now},{now+30s},host,7,main,label;', '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('permits', 1, {now}, null, 0, 0, {now}, '', '{id6},P,2,3,{now},{now},{now+30s},host,7,main,label;{id7},P,1,3,{now},{now},{now+30s},host,7,main,label;', '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('watched', 1, {now}, '{id9}', {now}, {now}, {now+30s}, '', '', 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock_record VALUES ('daily', 2048, {now}, {now}, {now+86400s}, 'done by host')
INSERT INTO holdfast_fence VALUES ('file', 2048)

# What version 0.1.0 keeps in a SQLite file; SqliteSql says what each column means.

CREATE TABLE holdfast_meta (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  layout INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  booted_at INTEGER NOT NULL,
  floor INTEGER NOT NULL,
  purged_at INTEGER NOT NULL
  ) STRICT
CREATE TABLE holdfast_lock (
  name TEXT NOT NULL PRIMARY KEY,
  layout INTEGER NOT NULL,
  claim_id TEXT,
  number INTEGER NOT NULL,
  acquired_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  served INTEGER NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  thread TEXT NOT NULL,
  label TEXT NOT NULL
  ) STRICT, WITHOUT ROWID
CREATE TABLE holdfast_claim (
  name TEXT NOT NULL,
  arrival INTEGER NOT NULL,
  claim_id TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('exclusive', 'shared', 'permits')),
  permits INTEGER NOT NULL,
  of_permits INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'holding')),
  number INTEGER NOT NULL,
  since INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  thread TEXT NOT NULL,
  label TEXT NOT NULL,
  PRIMARY KEY (name, arrival)
  ) STRICT, WITHOUT ROWID
CREATE TABLE holdfast_record (
  name TEXT NOT NULL PRIMARY KEY,
  token INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  keep_until INTEGER NOT NULL,
  content TEXT NOT NULL
  ) STRICT, WITHOUT ROWID
CREATE INDEX holdfast_record_until ON holdfast_record (keep_until)
CREATE TABLE holdfast_fence (resource TEXT NOT NULL PRIMARY KEY, token BIGINT NOT NULL)

# {boot}: this start of the machine, and {booted}, when the file was made in it; {now}: by the machine's monotonic clock;
# {micros}, {millis}: by the wall clock; {nobody}: the id of no claim
INSERT INTO holdfast_meta VALUES (1, 1, '{boot}', {booted}, 0, {booted})
INSERT INTO holdfast_lock VALUES ('broken', 1, '{nobody}', {micros}, {now}, {now+30s}, 0, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('held', 1, '{id1}', {micros}, {now}, {now+30s}, 0, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('permits', 1, null, 0, 0, 0, 0, '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('readers', 1, null, 0, 0, 0, 0, '', 0, '', '')
INSERT INTO holdfast_lock VALUES ('waited', 1, '{id2}', {micros}, {now}, {now+30s}, 0, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock VALUES ('watched', 1, '{id9}', {micros}, {now}, {now+30s}, 0, 'host', 7, 'main', 'label')
INSERT INTO holdfast_claim VALUES ('permits', {now}, '{id6}', 'permits', 2, 3, 'holding', {micros}, {now}, {now+30s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_claim VALUES ('permits', {now+1s}, '{id7}', 'permits', 1, 3, 'holding', {micros}, {now}, {now+30s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_claim VALUES ('readers', {now}, '{id4}', 'shared', 1, 1, 'holding', {micros}, {now}, {now+30s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_claim VALUES ('readers', {now+1s}, '{id5}', 'shared', 1, 1, 'holding', {micros}, {now}, {now+30s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_claim VALUES ('waited', {now}, '{id3}', 'exclusive', 1, 1, 'waiting', 0, {now}, {now+10s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_record VALUES ('daily', 2048, 1, {millis}, {millis+86400s}, 'done by host')
INSERT INTO holdfast_fence VALUES ('file', 2048)

# What version 0.1.0 keeps in MariaDB and MySQL with mode=session; SessionRow says what each column means. {held}, {broken}
# and {waited} are the numbers by which the server knows the locks, after a hash of the table. A waiter keeps nothing: it is
# the statement of GET_LOCK itself.

CREATE TABLE IF NOT EXISTS holdfast_lock_session (
  name VARBINARY(1020) NOT NULL PRIMARY KEY,
  layout SMALLINT NOT NULL,
  number INT NOT NULL UNIQUE,
  version BIGINT NOT NULL,
  claim_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  grant_number BIGINT NOT NULL,
  acquired_at BIGINT NOT NULL,
  session BIGINT NOT NULL,
  free_at BIGINT NOT NULL,
  host VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
  pid BIGINT NOT NULL,
  thread VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
  label VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC

INSERT INTO holdfast_lock_session VALUES ('held', 1, {held}, 1, '{id1}', {now}, {now}, 30000000, 0, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock_session VALUES ('broken', 1, {broken}, 2, '-', {now}, {now}, 30000000, {now+30s}, 'host', 7, 'main', 'label')
INSERT INTO holdfast_lock_session VALUES ('waited', 1, {waited}, 1, '{id2}', {now}, {now}, 30000000, 0, 'host', 7, 'main', 'label')

SELECT GET_LOCK(CONCAT('hf', LEFT(SHA2(CONCAT(DATABASE(), '.holdfast_lock_session'), 256), 32), '.', {held}), 0)
SELECT GET_LOCK(CONCAT('hf', LEFT(SHA2(CONCAT(DATABASE(), '.holdfast_lock_session'), 256), 32), '.', {waited}), 0)

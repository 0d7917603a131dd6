package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An exclusive grant as its row is found, and what the statements that renew many of them are filled with. These have few
 * sizes, so that few are kept prepared: the last grant fills the places that are left.
 *
 * @param name as the database compares it
 * @param id the claim
 * @param number of the grant
 */
record GrantKey(Object name, String id, long number) {
    /** How many places the statement for so many grants has. */
    static int rows(List<GrantKey> keys) {
        return keys.size() == 1 ? 1 : Integer.highestOneBit(keys.size() - 1) << 1;
    }

    /** What fills {@link RowSql#renew}. */
    static List<Object> arguments(long lease, List<GrantKey> keys) {
        List<Object> arguments = new ArrayList<>(List.of(lease, 0L));
        arguments.addAll(names(keys));
        for (GrantKey key : filled(keys)) {
            arguments.addAll(List.of(key.name, key.id, key.number));
        }
        return arguments;
    }

    /** What fills {@link RowSql#renewed}. */
    static List<Object> names(List<GrantKey> keys) {
        return new ArrayList<>(filled(keys).stream().map(GrantKey::name).toList());
    }

    /** The claims of the grants that a statement shows by {@link RowSql#renewedColumns}, and whether others wait. */
    static Map<String, Boolean> valid(SqlSession session, String statement, List<?> arguments, List<GrantKey> keys)
            throws SQLException {
        Map<String, Long> numbers = new HashMap<>();
        keys.forEach(key -> numbers.put(key.id, key.number));
        Map<String, Boolean> valid = new HashMap<>();
        session.all(
                statement,
                row -> {
                    String id = row.getString(1);
                    if (id != null && numbers.getOrDefault(id, -1L) == row.getLong(2)) {
                        valid.put(id, row.getLong(3) > 0);
                    }
                    return true;
                },
                arguments);
        return valid;
    }

    private static List<GrantKey> filled(List<GrantKey> keys) {
        List<GrantKey> filled = new ArrayList<>(keys);
        while (filled.size() < rows(keys)) {
            filled.add(keys.get(keys.size() - 1));
        }
        return filled;
    }
}

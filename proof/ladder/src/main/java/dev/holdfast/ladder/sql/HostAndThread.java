package dev.holdfast.ladder.sql;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Host and thread say whose row it is, so that a thread may enter again. Two processes may have threads of one name. */
public final class HostAndThread extends SqlRung {
    /** A client of the database at the URL. */
    public HostAndThread(String url) {
        super(url);
    }

    @Override
    public boolean run(String name, Work work) {
        // snippet ladderHostAndThread
        String me = host() + "/" + Thread.currentThread().getName();
        boolean mine = change("INSERT INTO owned (name, owner, depth) VALUES (?, ?, 1)", name, me) == 1
                || change("UPDATE owned SET depth = depth + 1 WHERE name = ? AND owner = ?", name, me) == 1;
        if (!mine) {
            return false;
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            change("UPDATE owned SET depth = depth - 1 WHERE name = ? AND owner = ?", name, me);
            change("DELETE FROM owned WHERE name = ? AND owner = ? AND depth = 0", name, me);
        }
        return true;
        // end
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}

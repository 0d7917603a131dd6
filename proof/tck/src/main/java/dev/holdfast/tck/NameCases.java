package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the store tells of its locks, and that every name is one of its own. */
abstract class NameCases extends Cases {
    private static final int TOKENS_PER_NUMBER = 1024;
    private static final int LONGEST = 255;

    /** Each another name to people and to the contract, though some store, collation or path may fold them. */
    private static final List<String> TELLING_APART = List.of(
            "a",
            "A",
            "a ",
            " a",
            "a  ",
            "ab",
            "a b",
            "a%",
            "a_",
            "a\\",
            "a\\\\",
            "a'",
            "a''",
            "a\"",
            "a`",
            "a;--",
            "a{",
            "a}",
            "a{b}",
            "a{c}",
            "{a}",
            "a[",
            "a]",
            "a*",
            "a?",
            "a/",
            "a//",
            "/a",
            "a/b",
            "a.",
            "a..",
            "a/.",
            "a/../b",
            "a:",
            "a::",
            "a,",
            "a=",
            "a$",
            "a$1",
            "a&",
            "a|",
            "a<b>",
            "a#",
            "a@b",
            "a~",
            "a^",
            "a+",
            "a!",
            "a(b)",
            "0",
            "00",
            "-1",
            "null",
            "NULL",
            "true",
            "é",
            "e\u0301",
            "É",
            "ß",
            "ss",
            "SS",
            "ı",
            "i",
            "I",
            "İ",
            "σ",
            "ς",
            "Σ",
            "\u00a0",
            "\u200b",
            "日本",
            "ラ",
            "ら",
            "עברית",
            "\uD83D\uDD12",
            "\uD83D\uDD13",
            "\uD83D\uDC69\u200D\uD83D\uDD27");

    NameCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void theStatusTellsTheHolderTheTokenAndTheLease() {
        RawClient one = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        rig.raw().queue(name);

        LockStatus status = rig.raw().status(name);

        LockStatus.Held held = status.grant().orElseThrow();
        assertThat(status.name()).isEqualTo(name);
        assertThat(status.waiting()).isEqualTo(rig.counted(1));
        assertThat(held.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(held.token()).isEqualTo(grant.number() * TOKENS_PER_NUMBER);
        assertThat(held.holder()).isEqualTo(Claims.HOLDER);
        assertThat(held.heldFor()).isBetween(Duration.ZERO, rig.contract.patience());
        assertThat(held.leaseLeft()).isPositive().isLessThanOrEqualTo(grant.lease());
    }

    @Test
    void theStatusTellsHowLongItHasBeenHeldNotWhenItWasRenewed() {
        RawClient one = rig.raw();
        Grant grant = one.hold(rig.name());
        rig.pass(Duration.ofMillis(300));

        one.renew(grant);

        assertThat(one.status(grant.name()).grant().orElseThrow().heldFor())
                .isBetween(Duration.ofMillis(250), rig.contract.patience());
    }

    @Test
    void theStatusOfAnUnknownNameIsFree() {
        String name = rig.name();
        assertThat(rig.raw().status(name)).isEqualTo(LockStatus.free(name, 0));
    }

    @Test
    void theStatusOfANameThatWasReleasedOrRanOutIsFree() {
        RawClient one = rig.raw();
        Grant released = one.hold(rig.name());
        one.release(released);
        assertThat(one.status(released.name())).isEqualTo(LockStatus.free(released.name(), 0));

        Grant stale = one.hold(rig.name(), rig.brief());
        rig.makeStale(one, stale);
        assertThat(one.status(stale.name())).isEqualTo(LockStatus.free(stale.name(), 0));
        assertThat(one.list(stale.name())).isEmpty();
    }

    @Test
    void theListHasWhatIsHeldOrWaitedForAndNothingElse() {
        RawClient one = rig.raw();
        String prefix = rig.name();
        one.hold(prefix + "/held");
        one.hold(prefix + "/waited");
        rig.raw().queue(prefix + "/waited");
        one.release(one.hold(prefix + "/released"));
        one.attempt(prefix + "/held");
        one.status(prefix + "/asked");

        List<LockStatus> list = rig.raw().list(prefix);

        assertThat(list).extracting(LockStatus::name).containsExactly(prefix + "/held", prefix + "/waited");
        assertThat(list).extracting(LockStatus::waiting).containsExactly(0, rig.counted(1));
        assertThat(list).allMatch(LockStatus::isHeld);
    }

    @Test
    void theListIsSortedByName() {
        RawClient one = rig.raw();
        String prefix = rig.name();
        List<String> names = new ArrayList<>(
                List.of("10", "9", "B", "a", "_", "-", "", "aa", "a-", "a_", "é", "~", "日", "\uD83D\uDD12"));
        names.replaceAll(prefix::concat);
        Collections.shuffle(names);
        names.forEach(one::hold);

        assertThat(one.listedNames(prefix)).isEqualTo(names.stream().sorted().toList());
    }

    @Test
    void theEmptyPrefixListsEverything() {
        RawClient one = rig.raw();
        List<String> names = List.of(rig.name(), "other-" + rig.name());
        names.forEach(one::hold);

        assertThat(one.listedNames("")).containsAll(names);
    }

    @Test
    void aPrefixStandsForItselfWhateverItsCharacters() {
        RawClient one = rig.raw();
        String base = rig.name();
        for (String special : TELLING_APART) {
            one.hold(base + special + "/x");
        }
        for (String special : TELLING_APART) {
            String prefix = base + special;
            List<String> expected = TELLING_APART.stream()
                    .map(each -> base + each + "/x")
                    .filter(name -> name.startsWith(prefix))
                    .sorted()
                    .toList();
            assertThat(one.listedNames(prefix)).as("prefix '%s'", special).isEqualTo(expected);
        }
    }

    @Test
    @Tag(StoreContract.EACH_STORE)
    void everyNameIsAnotherLockAndComesBackAsItWasGiven() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String base = rig.name();
        Map<String, Grant> held = new TreeMap<>();
        for (String special : TELLING_APART) {
            String name = base + special;
            held.put(name, one.hold(name));
        }
        assertThat(two.listedNames(base)).containsExactlyInAnyOrderElementsOf(held.keySet());
        held.forEach((name, grant) -> {
            assertThat(two.attempt(name)).as("'%s', which is held", name).isEmpty();
            assertThat(two.status(name).name()).isEqualTo(name);
            assertThat(one.release(grant)).as("release of '%s'", name).isTrue();
            assertThat(one.isHeld(name)).as("'%s' after its release", name).isFalse();
        });
        assertThat(two.list(base)).isEmpty();
    }

    @Test
    void namesThatAreNothingButSpecialAreNamesToo() {
        RawClient one = rig.raw();
        for (String name :
                List.of("/", "//", ".", "..", "%", "_", "\\", "'", "\"", "{}", "{", "*", "?", " ", "0", "\u00e9")) {
            Grant grant = one.hold(name);
            assertThat(one.listedNames(name)).as("'%s'", name).contains(name);
            assertThat(rig.patience.answer(one.store.release(grant), "release '" + name + "'"))
                    .isTrue();
        }
    }

    @Test
    void theLongestNamesAreToldApartToTheLastCharacter() {
        RawClient one = rig.raw();
        for (String filling : List.of("x", "é", "日", "\uD83D\uDD12", "'", "%", "/", "\\")) {
            String base = longest(rig.name(), filling);
            List<String> names = List.of(base + "1", base + "2");
            List<Grant> grants = names.stream().map(one::hold).toList();

            assertThat(one.listedNames(base)).as("filled with '%s'", filling).isEqualTo(names);
            assertThat(grants).allMatch(one::release);
        }
    }

    /** One character short of the longest name. */
    private static String longest(String start, String filling) {
        StringBuilder name = new StringBuilder(start);
        while (name.length() + filling.length() < LONGEST) {
            name.append(filling);
        }
        while (name.length() + 1 < LONGEST) {
            name.append('x');
        }
        return name.toString();
    }
}

package dev.holdfast.cli;

import dev.holdfast.spi.Mode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 1/4}: one permit of four. */
final class PermitsConverter implements ITypeConverter<Mode.Permits> {
    private static final Pattern SHARE = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

    @Override
    public Mode.Permits convert(String text) {
        Matcher share = SHARE.matcher(text);
        if (!share.matches()) {
            throw wrong(text);
        }
        int wanted = Integer.parseInt(share.group(1));
        int all = Integer.parseInt(share.group(2));
        if (wanted < 1 || wanted > all) {
            throw wrong(text);
        }
        return new Mode.Permits(wanted, all);
    }

    private static TypeConversionException wrong(String text) {
        return new TypeConversionException(
                "'" + text + "' is not N/M, as 1/4: N permits of M, where N is at least 1 and at most M");
    }
}

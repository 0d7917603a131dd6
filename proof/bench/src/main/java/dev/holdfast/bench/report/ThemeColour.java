package dev.holdfast.bench.report;

import java.awt.Color;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The colours of the pictures, each for a light and for a dark page. The hues are those of Okabe and Ito, "Color
 * Universal Design" (2008): people with any of the common kinds of colour blindness can tell them apart.
 */
enum ThemeColour {
    BACKGROUND(0xffffff, 0x0d1117),
    TEXT(0x1f2328, 0xe6edf3),
    GRID(0xdde1e6, 0x2a3037),
    FLOOR(0x6e7781, 0x8b949e),
    HOLDFAST(0x0072b2, 0x58b4f0),
    VERMILION(0xd55e00, 0xf0784a),
    GREEN(0x009e73, 0x2ec79b),
    PURPLE(0xcc79a7, 0xde9bc2),
    ORANGE(0xe69f00, 0xf0b23e);

    private final Color light;
    private final Color dark;

    ThemeColour(int light, int dark) {
        this.light = new Color(light);
        this.dark = new Color(dark);
    }

    /** The colour on a light page. Every picture is drawn in it. */
    Color light() {
        return light;
    }

    /** A style sheet for an SVG whose colours are the light ones: a page in dark mode shows the dark ones instead. */
    static String styleForDarkPages() {
        return Arrays.stream(values())
                .map(colour -> colour.rule("fill") + colour.rule("stroke"))
                .collect(Collectors.joining("", "<style>@media (prefers-color-scheme: dark) {", "}</style>"));
    }

    private String rule(String property) {
        return "[style*=\"%1$s:%2$s\"]{%1$s:%3$s !important}".formatted(property, rgb(light), rgb(dark));
    }

    /** As VectorGraphics2D writes it into a style attribute. */
    private static String rgb(Color colour) {
        return "rgb(" + colour.getRed() + "," + colour.getGreen() + "," + colour.getBlue() + ")";
    }
}

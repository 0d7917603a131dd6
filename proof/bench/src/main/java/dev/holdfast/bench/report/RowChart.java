package dev.holdfast.bench.report;

import java.awt.BasicStroke;
import java.awt.Font;
import java.awt.Graphics2D;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Annotation;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Rows with names, each with two marks on a logarithmic axis, a circle and a square, a line between them, and their
 * figures in words.
 */
final class RowChart {
    private static final int ROW_HEIGHT = 27;
    private static final int TITLE_AND_AXIS_HEIGHT = 70;
    private static final int LEFT = 220;
    private static final int RIGHT = 60;
    private static final int GAP = 12;
    private static final int TEXT_DROP = 4;

    /** A row; without a style, it is the title of the rows that follow. */
    private record Row(String name, @Nullable SeriesStyle style, double first, double second, String label) {}

    private final String title;
    private final String xTitle;
    private final double min;
    private final double max;
    private final List<Row> rows = new ArrayList<>();

    RowChart(String title, String xTitle, double min, double max) {
        this.title = title;
        this.xTitle = xTitle;
        this.min = min;
        this.max = max;
    }

    /** Adds a title for the rows that follow. */
    void addTitle(String name) {
        rows.add(new Row(name, null, Double.NaN, Double.NaN, ""));
    }

    /** Adds a row with its values and its label; the second value is NaN where there is none. */
    void add(String name, SeriesStyle style, double first, double second, String label) {
        rows.add(new Row(name, style, within(first), within(second), label));
    }

    /** What lies beyond the axis is drawn at its end; the label has the value. NaN stays. */
    private double within(double value) {
        return Math.min(max, Math.max(min, value));
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    Picture picture() {
        Picture picture = new Picture(title, xTitle, "", TITLE_AND_AXIS_HEIGHT + ROW_HEIGHT * rows.size(), LEFT, RIGHT);
        XYStyler styler = picture.chart().getStyler();
        styler.setXAxisLogarithmic(true);
        styler.setXAxisMin(min);
        styler.setXAxisMax(max);
        styler.setYAxisMin(-rows.size() + 0.5);
        styler.setYAxisMax(0.5);
        styler.setYAxisTicksVisible(false);
        styler.setPlotGridHorizontalLinesVisible(false);
        for (int i = 0; i < rows.size(); i++) {
            addMarks(picture, rows.get(i), i);
        }
        picture.chart().addAnnotation(new Names());
        return picture;
    }

    private static void addMarks(Picture picture, Row row, int place) {
        SeriesStyle style = row.style();
        if (style == null) {
            return;
        }
        if (!Double.isNaN(row.second())) {
            XYSeries line = picture.chart()
                    .addSeries(
                            "line " + place, new double[] {row.first(), row.second()}, new double[] {-place, -place});
            line.setMarker(SeriesMarkers.NONE);
            line.setLineColor(style.colour().light());
            line.setLineStyle(new BasicStroke(style.strong() ? 5 : 2));
            addMark(picture, style, "second " + place, row.second(), place, SeriesMarkers.SQUARE);
        }
        addMark(picture, style, "first " + place, row.first(), place, SeriesMarkers.CIRCLE);
    }

    private static void addMark(Picture picture, SeriesStyle style, String name, double x, int place, Marker marker) {
        XYSeries mark = picture.chart().addSeries(name, new double[] {x}, new double[] {-place});
        mark.setMarker(marker);
        mark.setMarkerColor(style.colour().light());
        mark.setLineColor(style.colour().light());
    }

    /** Draws the names of the rows on the left, and their figures behind their marks. */
    private final class Names extends Annotation {
        Names() {
            super(false);
        }

        @Override
        public void paint(Graphics2D graphics) {
            for (int i = 0; i < rows.size(); i++) {
                Row row = rows.get(i);
                SeriesStyle style = row.style();
                int y = getYAxisScreenValue(-i) + TEXT_DROP;
                Font font = style == null || style.strong() ? Picture.BOLD : Picture.PLAIN;
                graphics.setColor(
                        style != null && style.strong() ? style.colour().light() : ThemeColour.TEXT.light());
                double x = getXAxisScreenValue(min) - GAP - Picture.width(row.name(), font);
                Picture.write(graphics, row.name(), font, x, y);
                if (style != null) {
                    double last = Double.isNaN(row.second()) ? row.first() : Math.max(row.first(), row.second());
                    Picture.write(graphics, row.label(), font, getXAxisScreenValue(last) + GAP, y);
                }
            }
        }
    }
}

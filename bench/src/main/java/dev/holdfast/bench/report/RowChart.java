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
    private static final int AROUND = 70;
    private static final int LEFT = 220;
    private static final int GAP = 12;
    private static final int TEXT_DROP = 4;

    /** Without a look it is the title of those below. */
    private record Row(String name, @Nullable Look look, double first, double second, String words) {}

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

    /** Adds a row; the second value is NaN where there is none. */
    void add(String name, Look look, double first, double second, String words) {
        rows.add(new Row(name, look, first, second, words));
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    Picture picture() {
        Picture picture = new Picture(title, xTitle, "", AROUND + ROW_HEIGHT * rows.size(), LEFT, 0);
        XYStyler styler = picture.chart().getStyler();
        styler.setXAxisLogarithmic(true);
        styler.setXAxisMin(min);
        styler.setXAxisMax(max);
        styler.setYAxisMin(-rows.size() + 0.5);
        styler.setYAxisMax(0.5);
        styler.setYAxisTicksVisible(false);
        styler.setPlotGridHorizontalLinesVisible(false);
        for (int i = 0; i < rows.size(); i++) {
            marks(picture, rows.get(i), i);
        }
        picture.chart().addAnnotation(new Names());
        return picture;
    }

    private static void marks(Picture picture, Row row, int place) {
        Look look = row.look();
        if (look == null) {
            return;
        }
        if (!Double.isNaN(row.second())) {
            XYSeries line = picture.chart()
                    .addSeries(
                            "line " + place, new double[] {row.first(), row.second()}, new double[] {-place, -place});
            line.setMarker(SeriesMarkers.NONE);
            line.setLineColor(look.shade().light());
            line.setLineStyle(new BasicStroke(look.strong() ? 5 : 2));
            mark(picture, look, "second " + place, row.second(), place, SeriesMarkers.SQUARE);
        }
        mark(picture, look, "first " + place, row.first(), place, SeriesMarkers.CIRCLE);
    }

    private static void mark(Picture picture, Look look, String name, double x, int place, Marker marker) {
        XYSeries mark = picture.chart().addSeries(name, new double[] {x}, new double[] {-place});
        mark.setMarker(marker);
        mark.setMarkerColor(look.shade().light());
        mark.setLineColor(look.shade().light());
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
                Look look = row.look();
                int y = getYAxisScreenValue(-i) + TEXT_DROP;
                Font font = look == null || look.strong() ? Picture.BOLD : Picture.PLAIN;
                graphics.setColor(look != null && look.strong() ? look.shade().light() : Shade.TEXT.light());
                double names = getXAxisScreenValue(min) - GAP - Picture.width(row.name(), font);
                Picture.write(graphics, row.name(), font, names, y);
                if (look != null) {
                    double last = Double.isNaN(row.second()) ? row.first() : Math.max(row.first(), row.second());
                    Picture.write(graphics, row.words(), font, getXAxisScreenValue(last) + GAP, y);
                }
            }
        }
    }
}

package dev.holdfast.bench.report;

import java.awt.BasicStroke;
import java.awt.Font;
import java.awt.Graphics2D;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Annotation;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Lines over a few categories. Each line has its own name at its end, so no legend is needed. */
final class LineChart {
    private static final int HEIGHT = 460;
    private static final int RIGHT = 210;
    private static final int LABEL_HEIGHT = 17;
    private static final int BELOW = 18;
    private static final int LEADER = 16;
    private static final int TEXT_DROP = 4;
    private static final int TEXT_GAP = 4;
    private static final float[] DASHES = {5, 5};

    private record Line(String name, SeriesStyle style, double lastX, double lastY) {}

    private final Picture picture;
    private final List<String> categories;
    private final List<Line> lines = new ArrayList<>();

    LineChart(String title, String yTitle, List<String> categories) {
        this.picture = new Picture(title, "", yTitle, HEIGHT, 0, RIGHT);
        this.categories = List.copyOf(categories);
        picture.chart().getStyler().setXAxisMin(0.8).setXAxisMax(categories.size() + 0.1);
        // the categories are not numbers: their names are drawn with those of the lines
        picture.chart().getStyler().setXAxisTickLabelsColor(ThemeColour.BACKGROUND.light());
        picture.chart().getStyler().setPlotGridVerticalLinesVisible(false);
        picture.chart().addAnnotation(new Names());
    }

    /** Makes the y axis logarithmic. */
    LineChart logarithmic() {
        picture.chart().getStyler().setYAxisLogarithmic(true);
        return this;
    }

    /** Lets the y axis begin at 0. */
    LineChart fromZero() {
        picture.chart().getStyler().setYAxisMin(0.0);
        return this;
    }

    /** Adds a line with a value for each category; NaN where there is none. A line without values is left out. */
    void add(String name, SeriesStyle style, List<Double> values) {
        int[] known = IntStream.range(0, values.size())
                .filter(i -> !Double.isNaN(values.get(i)))
                .toArray();
        if (known.length == 0) {
            return;
        }
        XYSeries series = picture.chart()
                .addSeries(
                        name,
                        IntStream.of(known).mapToDouble(i -> i + 1).toArray(),
                        IntStream.of(known).mapToDouble(values::get).toArray());
        series.setLineColor(style.colour().light());
        series.setMarkerColor(style.colour().light());
        series.setMarker(SeriesMarkers.CIRCLE);
        series.setLineStyle(style.dashed() ? dashes(1.5f) : new BasicStroke(style.strong() ? 4 : 2));
        int last = known[known.length - 1];
        lines.add(new Line(name, style, last + 1, values.get(last)));
    }

    private static BasicStroke dashes(float width) {
        return new BasicStroke(width, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, DASHES, 0);
    }

    Picture picture() {
        return picture;
    }

    /** Moves sorted heights apart until neighbours differ by at least {@code gap}. */
    static List<Double> apart(List<Double> sorted, double gap) {
        double[] moved = sorted.stream().mapToDouble(y -> y).toArray();
        // each pass moves every pair that is too close by half of what is missing; the ends may move outwards
        for (int pass = 0; pass < 100; pass++) {
            for (int i = 1; i < moved.length; i++) {
                double missing = gap - (moved[i] - moved[i - 1]);
                if (missing > 0) {
                    moved[i - 1] -= missing / 2;
                    moved[i] += missing / 2;
                }
            }
        }
        return IntStream.range(0, moved.length).mapToObj(i -> moved[i]).toList();
    }

    /** Draws the names of the lines beside their ends, and those of the categories below. */
    private final class Names extends Annotation {
        Names() {
            super(false);
        }

        @Override
        public void paint(Graphics2D graphics) {
            graphics.setColor(ThemeColour.TEXT.light());
            for (int i = 0; i < categories.size(); i++) {
                double width = Picture.width(categories.get(i), Picture.PLAIN);
                Picture.write(
                        graphics,
                        categories.get(i),
                        Picture.PLAIN,
                        getXAxisScreenValue(i + 1.0) - width / 2,
                        getYAxisScreenValueForMax() + BELOW);
            }
            List<Line> sorted = lines.stream()
                    .sorted((one, other) ->
                            Integer.compare(getYAxisScreenValue(one.lastY()), getYAxisScreenValue(other.lastY())))
                    .toList();
            List<Double> heights = apart(
                    sorted.stream()
                            .map(line -> (double) getYAxisScreenValue(line.lastY()))
                            .toList(),
                    LABEL_HEIGHT);
            for (int i = 0; i < sorted.size(); i++) {
                drawName(graphics, sorted.get(i), (int) Math.round(heights.get(i)));
            }
        }

        private void drawName(Graphics2D graphics, Line line, int y) {
            int end = getXAxisScreenValue(categories.size());
            graphics.setColor(line.style().colour().light());
            boolean endsEarly = line.lastX() < categories.size();
            graphics.setStroke(endsEarly ? dashes(1) : new BasicStroke(1));
            graphics.drawLine(getXAxisScreenValue(line.lastX()), getYAxisScreenValue(line.lastY()), end + LEADER, y);
            if (!line.style().strong()) {
                graphics.setColor(ThemeColour.TEXT.light());
            }
            Font font = line.style().strong() ? Picture.BOLD : Picture.PLAIN;
            Picture.write(graphics, line.name(), font, end + LEADER + TEXT_GAP, y + TEXT_DROP);
        }
    }
}

package dev.holdfast.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.BasicStroke;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.geom.AffineTransform;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.XYStyler;

/** One picture: a title, a chart, and room beside the chart for the names of what is drawn. */
final class Picture {
    static final Font PLAIN = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    static final Font BOLD = new Font(Font.SANS_SERIF, Font.BOLD, 13);

    /** A hundredth of a pixel is enough for an outline. */
    private static final Pattern LONG_FRACTION = Pattern.compile("(\\.\\d{2})\\d+");

    private static final FontRenderContext OUTLINES = new FontRenderContext(null, true, true);
    private static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 16);
    private static final int WIDTH = 900;
    private static final int TITLE_HEIGHT = 40;
    private static final int TITLE_BASE = 26;
    private static final int MARGIN = 16;
    private static final int PIXELS_PER_UNIT = 2;
    /** No exponents: people read 10,000 sooner than 1E4. */
    private static final String DECIMALS = "#,##0.#####";

    private final String title;
    private final XYChart chart;
    private final int height;
    private final int left;
    private final int right;

    /**
     * A picture with a chart that does not show anything yet.
     *
     * @param height of the chart alone
     * @param left room for names on its left
     * @param right room for names on its right
     */
    Picture(String title, String xTitle, String yTitle, int height, int left, int right) {
        this.title = title;
        this.height = height;
        this.left = left;
        this.right = right;
        this.chart = new XYChartBuilder()
                .width(WIDTH - left - right)
                .height(height)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
    }

    XYChart chart() {
        return chart;
    }

    private static void style(XYStyler styler) {
        styler.setLocale(Locale.ROOT);
        styler.setLegendVisible(false);
        styler.setChartTitleVisible(false);
        styler.setChartBackgroundColor(ThemeColour.BACKGROUND.light());
        styler.setPlotBackgroundColor(ThemeColour.BACKGROUND.light());
        styler.setPlotBorderVisible(false);
        styler.setChartFontColor(ThemeColour.TEXT.light());
        styler.setPlotGridLinesColor(ThemeColour.GRID.light());
        // dashes, which are the default, become thousands of strokes in a vector file
        styler.setPlotGridLinesStroke(new BasicStroke(1));
        styler.setAxisTickLabelsColor(ThemeColour.TEXT.light());
        styler.setAxisTickLabelsFont(PLAIN);
        styler.setAxisTitleFont(PLAIN);
        styler.setAxisTicksLineVisible(false);
        styler.setAxisTicksMarksVisible(false);
        styler.setXAxisDecimalPattern(DECIMALS);
        styler.setYAxisDecimalPattern(DECIMALS);
        styler.setXAxisLogarithmicDecadeOnly(true);
        styler.setYAxisLogarithmicDecadeOnly(true);
        styler.setMarkerSize(10);
    }

    /** Writes this picture as an SVG, for light and for dark pages, and as a PNG. */
    void save(Path folder, String name) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(name + ".svg"), svg());
        BufferedImage image = new BufferedImage(
                WIDTH * PIXELS_PER_UNIT, (height + TITLE_HEIGHT) * PIXELS_PER_UNIT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT);
        paint(graphics);
        graphics.dispose();
        ImageIO.write(image, "png", folder.resolve(name + ".png").toFile());
    }

    private String svg() throws IOException {
        VectorGraphics2D drawing = new VectorGraphics2D();
        paint(drawing);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new SVGProcessor()
                .getDocument(drawing.getCommands(), new PageSize(WIDTH, height + TITLE_HEIGHT))
                .writeTo(bytes);
        String svg =
                LONG_FRACTION.matcher(bytes.toString(StandardCharsets.UTF_8)).replaceAll("$1");
        int inside = svg.indexOf('>', svg.indexOf("<svg ")) + 1;
        return svg.substring(0, inside) + ThemeColour.styleForDarkPages() + svg.substring(inside);
    }

    /** Writes words as outlines, since the reader of an SVG may not have the font. */
    static void write(Graphics2D graphics, String words, Font font, double x, double y) {
        graphics.fill(new TextLayout(words, font, OUTLINES).getOutline(AffineTransform.getTranslateInstance(x, y)));
    }

    static double width(String words, Font font) {
        return new TextLayout(words, font, OUTLINES).getAdvance();
    }

    private void paint(Graphics2D graphics) {
        graphics.setColor(ThemeColour.BACKGROUND.light());
        graphics.fillRect(0, 0, WIDTH, height + TITLE_HEIGHT);
        graphics.setColor(ThemeColour.TEXT.light());
        write(graphics, title, TITLE, MARGIN, TITLE_BASE);
        graphics.translate(left, TITLE_HEIGHT);
        chart.paint(graphics, WIDTH - left - right, height);
    }
}

// Draws every canvas[data-chart] from the JSON beside it, in the colours of the style sheet. A canvas has no id: htmx
// would carry the style that Chart.js gave it over to its successor, as an attribute, which the content policy forbids.
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const stands_alone = ({ dataset, dataIndex: i }) =>
    dataset.data[i] != null && dataset.data[i - 1] == null && dataset.data[i + 1] == null;

  function dataset(series, kind) {
    const colour = css(series.colour);
    const shared = { label: series.name, data: series.values, borderColor: colour, backgroundColor: colour };
    if (kind === "bar") return { ...shared, borderWidth: 0, barPercentage: 0.9, categoryPercentage: 0.95 };
    return {
      ...shared,
      backgroundColor: kind === "area" ? `${colour}2e` : colour,
      fill: kind === "area",
      borderWidth: 2,
      clip: 3, // px: a line at the top is not cut in half
      tension: 0.25,
      cubicInterpolationMode: "monotone",
      spanGaps: kind === "line",
      segment: { borderDash: ({ p0, p1 }) => (p0.skip || p1.skip ? [3, 4] : undefined) },
      pointRadius: (context) => (stands_alone(context) ? 3 : 0),
      pointHoverRadius: 4,
    };
  }

  function options(data) {
    const faint = css("faint");
    const stacked = data.kind === "bar";
    const font = { family: css("sans"), size: 11.5 };
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      plugins: {
        legend: { display: false },
        tooltip: {
          callbacks: { label: (item) => ` ${item.dataset.label}: ${item.formattedValue} ${data.unit}` },
          usePointStyle: true,
          padding: 10,
          titleFont: { ...font, weight: 600 },
          bodyFont: font,
        },
      },
      scales: {
        x: { stacked, grid: { display: false }, border: { color: css("line") }, ticks: { color: faint, font, maxRotation: 0, autoSkipPadding: 24 } },
        y: { stacked, beginAtZero: true, max: data.top ?? undefined, grid: { color: css("line") }, border: { display: false }, ticks: { color: faint, font, maxTicksLimit: 6 } },
      },
    };
  }

  function draw(canvas) {
    Chart.getChart(canvas)?.destroy();
    const data = JSON.parse(document.getElementById(canvas.dataset.chart).textContent);
    const type = data.kind === "bar" ? "bar" : "line";
    const datasets = data.series.map((series) => dataset(series, data.kind));
    new Chart(canvas, { type, data: { labels: data.labels, datasets }, options: options(data) });
  }

  const drawAll = (root) => root.querySelectorAll("canvas[data-chart]").forEach(draw);
  document.addEventListener("DOMContentLoaded", () => document.fonts.ready.then(() => drawAll(document)));
  document.addEventListener("theme", () => drawAll(document));
  document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target));
  document.addEventListener("htmx:beforeCleanupElement", ({ target }) => {
    if (target.tagName === "CANVAS") Chart.getChart(target)?.destroy();
  });
})();

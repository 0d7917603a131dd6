// Spans in lanes, by the clock. What is at the same time goes below; the words of a short span stand beside it.
const inLanes = (spans, millis, short, known = []) => {
  const percent = time => 100 * time / Math.max(1, millis);
  const names = [...new Set([...known, ...spans.map(span => span.lane)])];
  return names.sort((one, other) => one.localeCompare(other, 'en', { numeric: true })).map(name => {
    const ends = []; // of the rows
    const placed = spans.filter(span => span.lane === name).map(span => {
      const isShort = span.to - span.from < short;
      const free = ends.findIndex(end => end <= span.from - (isShort ? millis / 3 : 0));
      const row = free < 0 ? ends.length : free;
      ends[row] = span.to;
      const left = Math.min(percent(span.from), 96); // what took no time at the very end is seen, too
      return { ...span,
        look: span.kind + (isShort ? ' short' + (span.from > millis / 2 ? ' before' : '') : ''),
        place: `left: ${left}%; width: ${percent(span.to - span.from)}%; top: calc(${row} * 1.75rem)` };
    });
    return { name, rows: ends.length, spans: placed };
  });
};

// The page's one component. All figures come from the server by events, or from a recording; nothing is counted here.
const tape = typeof recorded === 'undefined' ? null : recorded;
const asked = new URLSearchParams(location.search);
// the guide: the same tickets and buyers under three guards
const tour = [{ guard: 'none', fault: '' }, { guard: 'synchronized', fault: '' }, { guard: 'holdfast', fault: 'pause' }];
// a link may come from anywhere: it chooses only what the form offers
const oneOf = (choices, name, otherwise) => choices.includes(asked.get(name)) ? asked.get(name) : otherwise;

document.addEventListener('alpine:init', () => Alpine.data('sale', () => ({
  state: null,
  recorded: tape !== null,
  frames: tape ?? [],
  frame: 0,
  trouble: '',
  guard: asked.get('guard') ?? 'none',
  fault: oneOf(['pause', 'kill', 'cut'], 'fault', ''),
  stock: Number(asked.get('stock') ?? 20),
  gap: Number(asked.get('gap') ?? 20),
  buyers: Number(asked.get('buyers') ?? 64),
  within: Number(asked.get('within') ?? 0),
  seed: Number(asked.get('seed') ?? 1),
  starting: false,
  heard: 0, // messages
  step: -1, // of the guide; none yet
  knobs: tape !== null || ['guard', 'fault', 'stock', 'gap', 'buyers', 'within', 'seed'].some(knob => asked.has(knob)),
  linked: asked.has('seed'), // a run; a link may come from anywhere, so only a click begins it
  language: oneOf(['en', 'zh'], 'lang', navigator.language.startsWith('zh') ? 'zh' : 'en'),

  init() {
    if (this.recorded) {
      this.frame = Math.max(0, this.frames.length - 1);
      if (this.frames.length) this.scrub();
      return;
    }
    const events = new EventSource('events');
    events.onmessage = event => {
      this.heard++;
      const sent = JSON.parse(event.data);
      this.trouble = sent.trouble ?? '';
      if (sent.sale) this.show(sent);
    };
    events.onerror = () => { this.trouble = this.t.gone; };
  },

  show(figures) {
    if (figures.sale.opening !== this.state?.sale.opening) this.frames = [];
    this.frames.push({ at: performance.now(), figures });
    this.frame = this.frames.length - 1;
    this.state = figures;
  },
  scrub() { this.state = this.frames[this.frame].figures; },
  async play() {
    for (this.frame = 0; ; this.frame++) {
      this.scrub();
      if (this.frame >= this.frames.length - 1) return;
      const pause = this.frames[this.frame + 1].at - this.frames[this.frame].at;
      await new Promise(done => setTimeout(done, Math.min(pause, 500)));
    }
  },
  get moment() {
    const at = this.frames[this.frame]?.at - this.frames[0]?.at;
    return Number.isNaN(at) ? '' : (at / 1000).toFixed(1) + ' s';
  },

  get t() { return texts[this.language]; },
  get busy() {
    const last = this.frames.at(-1)?.figures;
    return this.starting || [last?.buyers, last?.couple?.withdrawals].some(sent => sent && sent.done < sent.count);
  },
  get isHoldfast() { return this.state?.sale.guard === 'holdfast'; },
  get lock() { return this.t.locked(this.state?.lock ?? {}); },
  get tickets() {
    const { sale, tally } = this.state ?? {};
    if (!sale || Math.max(sale.stock, tally.sold) > 400) return []; // more are not drawn
    const sold = Object.entries(tally.soldBy) // spread evenly, since their order is not known
      .flatMap(([node, count]) => Array.from({ length: count }, (_, i) => ({ at: (i + .5) / count, kind: 's' + node })))
      .sort((one, other) => one.at - other.at).map(ticket => ticket.kind);
    const over = Array(tally.oversold).fill('over');
    return sold.slice(0, sale.stock).concat(Array(Math.max(0, sale.stock - sold.length)).fill('free'), over);
  },
  get collision() {
    const most = this.state?.tally.collisions[0];
    return most && this.state.tally.oversold ? this.t.collided(most) : '';
  },
  get outage() {
    const { outage, buyers } = this.state ?? {};
    if (!outage?.times) return '';
    return outage.on ? this.t.cutNow : this.t.cutBefore(outage.times, buyers?.answers[503] ?? 0);
  },
  get told() {
    const { run, sale, struck } = this.state ?? {};
    return sale ? this.t.told(this.guardName(sale.guard), this.faultsOf(struck), run?.seed) : '';
  },
  get missed() { // a fault that no order met proves nothing
    const { run, struck } = this.state ?? {};
    return run?.fault && !struck[{ pause: 'paused', kill: 'killed', cut: 'cut' }[run.fault]];
  },
  get couple() {
    const { couple } = this.state ?? {};
    if (!couple) return { kind: '', text: '' };
    return { kind: couple.paid > 200 ? 'bad' : 'good', text: this.t.paid(couple) };
  },
  get link() {
    return '?' + new URLSearchParams({ guard: this.guard, fault: this.fault, stock: this.stock, gap: this.gap,
      buyers: this.buyers, within: this.within, seed: this.seed, lang: this.language });
  },
  get verdict() {
    const { buyers, tally, sale } = this.state ?? {};
    if (!buyers) return { kind: '', text: this.knobs ? this.t.verdicts.ready : '' };
    if (tally.oversold) return { kind: 'bad', text: this.t.verdicts.oversold(tally, sale) };
    if (buyers.done < buyers.count) return { kind: '', text: this.t.verdicts.running };
    if (buyers.answers['gave up']) return { kind: 'bad', text: this.t.verdicts.stuck(buyers.answers['gave up']) };
    const held = this.t.verdicts.held(tally, sale);
    const late = tally.refusals ? this.t.verdicts.late(this.t.late(tally.refused[0])) : '';
    return this.missed ? { kind: '', text: held + this.t.verdicts.missed, late } : { kind: 'good', text: held, late };
  },

  // what happened, told by a few orders, and the line of the guard's code that failed
  get storyMillis() { return Math.max(1, ...(this.state?.story ?? []).map(span => span.to)); },
  get ordersDrawn() { return (this.state?.story ?? []).filter(span => span.kind === 'sold' || span.kind === 'twice').length; },
  get lanes() {
    const nodes = this.state?.nodes ?? [];
    return inLanes(this.state?.story ?? [], this.storyMillis, this.storyMillis / 8, nodes.map(node => String(node.number)))
      .map(lane => ({ ...lane, node: nodes.find(node => String(node.number) === lane.name) ?? { number: lane.name, state: 'DOWN', working: 0, waiting: 0 } }));
  },
  crowd(node) { // as many as fit; the figures beside them are whole
    return [...Array(Math.min(node.working, 40)).fill('works'), ...Array(Math.min(node.waiting, 40)).fill('waits')];
  },
  get failure() {
    const wrong = (this.state?.story ?? []).filter(span => span.kind !== 'sold').sort((one, other) => one.to - other.to)[0];
    const stuck = this.state?.buyers?.answers['gave up'];
    return wrong?.kind === 'killed' && !stuck ? undefined : wrong;
  },
  get code() { return codes[this.state?.sale.guard]; },
  get lit() { return this.code?.failing[this.failure?.kind] ?? -1; },
  get failed() {
    if (this.lit < 0) return this.t.codeOf(this.guardName(this.state?.sale.guard));
    return this.t.failed[this.failure.kind](this.seconds(this.failure.to), this.failure.lane);
  },
  short(span) { // from left to right, also where it stands on the left of its span
    return '\u2066' + (span.kind === 'sold' ? '' : '✗ ') + (span.value || this.t.kinds[span.kind]) + '\u2069';
  },
  long(span) { return `${this.seconds(span.to)} s: ${this.t.server} ${span.lane}: ${this.t.kinds[span.kind]} ${span.value}`; },
  seconds(millis) { return (millis / 1000).toFixed(2); },

  get guided() {
    if (this.step < 0) return this.t.guide.start(this.state?.nodes.length);
    const { buyers, tally } = this.state ?? {};
    if (!buyers || buyers.done < buyers.count || this.missed) return '';
    return (tally.oversold || tally.refusals) ? this.t.guide.said[this.step] : '';
  },
  get isTourOver() { return this.step === tour.length - 1 && !this.busy; },
  async guide() {
    const step = (this.step + 1) % tour.length;
    Object.assign(this, tour[step], { stock: 2, gap: 300, buyers: 4, within: 0, seed: 1 });
    if (await this.run()) this.step = step;
  },

  // the runs of this sale side by side, this one last
  get results() {
    const { results, buyers, sale, tally, struck, run } = this.state ?? {};
    if (!buyers || buyers.done < buyers.count) return results ?? [];
    return [...results, { guard: sale.guard, struck, stock: sale.stock, withinMillis: run?.withinMillis ?? 0,
      sold: tally.sold, oversold: tally.oversold, buyers }];
  },
  guardName(id) { return this.t.guards[id]?.[0] ?? id; },
  faultsOf(struck) {
    return Object.keys(struck ?? {}).filter(fault => struck[fault]).map(fault => this.t.struck[fault]).join('; ') || this.t.faults.none;
  },

  number(value) { return value === undefined ? '–' : Math.round(value).toLocaleString(this.language); },
  toggleLanguage() { this.language = this.language === 'en' ? 'zh' : 'en'; },

  async post(path, body) {
    try {
      const heard = this.heard;
      const answer = await fetch('control/' + path, { method: 'POST', body: JSON.stringify(body ?? {}) });
      const said = await answer.json();
      this.trouble = answer.ok ? '' : said.detail;
      // what was heard of the same sale meanwhile may be newer than the answer
      if (answer.ok && (this.heard === heard || said.sale.opening !== this.state.sale.opening)) this.show(said);
      return answer.ok;
    } catch {
      this.trouble = this.t.gone; // or a balancer in front has not waited, and answers no JSON
      return false;
    }
  },
  press(number, button) { return this.post(`nodes/${number}/${button}`); },
  withdraw() { return this.post('couple', { guard: this.guard, gapMillis: this.gap }); },
  async run() {
    this.starting = true; // it may wait for servers
    const begun = await this.post('run', { guard: this.guard, stock: this.stock, gapMillis: this.gap, buyers: this.buyers,
      withinMillis: this.within, fault: this.fault, seed: this.seed });
    this.starting = false;
    return begun;
  },
})));

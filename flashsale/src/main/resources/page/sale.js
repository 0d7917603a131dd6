// The page's one component. All figures come from the server by events, or from a recording; nothing is counted here.
const tape = typeof recorded === 'undefined' ? null : recorded;
const asked = new URLSearchParams(location.search);
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
    return [last?.buyers, last?.couple?.withdrawals].some(sent => sent && sent.done < sent.count);
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
    const faults = Object.keys(struck ?? {}).filter(fault => struck[fault]).map(fault => this.t.struck[fault]);
    return sale ? this.t.told(this.t.guards[sale.guard]?.[0] ?? sale.guard, faults.join('; ') || this.t.faults.none, run?.seed) : '';
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
    if (!buyers) return { kind: '', text: this.t.verdicts.ready };
    if (tally.oversold) return { kind: 'bad', text: this.t.verdicts.oversold(tally, sale) };
    if (buyers.done < buyers.count) return { kind: '', text: this.t.verdicts.running };
    if (buyers.answers['gave up']) return { kind: 'bad', text: this.t.verdicts.stuck(buyers.answers['gave up']) };
    const held = this.t.verdicts.held(tally, sale);
    return this.missed ? { kind: '', text: held + this.t.verdicts.missed } : { kind: 'good', text: held };
  },

  number(value) { return value === undefined ? '–' : Math.round(value).toLocaleString(this.language); },
  toggleLanguage() { this.language = this.language === 'en' ? 'zh' : 'en'; },

  async post(path, body) {
    try {
      const answer = await fetch('control/' + path, { method: 'POST', body: JSON.stringify(body ?? {}) });
      const said = await answer.json();
      this.trouble = answer.ok ? '' : said.detail;
      if (answer.ok) this.show(said);
    } catch {
      this.trouble = this.t.gone; // or a balancer in front has not waited, and answers no JSON
    }
  },
  press(number, button) { return this.post(`nodes/${number}/${button}`); },
  withdraw() { return this.post('couple', { guard: this.guard, gapMillis: this.gap }); },
  run() {
    return this.post('run', { guard: this.guard, stock: this.stock, gapMillis: this.gap, buyers: this.buyers,
      withinMillis: this.within, fault: this.fault, seed: this.seed });
  },
})));

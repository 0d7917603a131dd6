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
  fault: oneOf(['pause', 'kill'], 'fault', ''),
  stock: Number(asked.get('stock') ?? 20),
  gap: Number(asked.get('gap') ?? 20),
  buyers: Number(asked.get('buyers') ?? 64),
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
  get couple() {
    const { couple } = this.state ?? {};
    if (!couple) return { kind: '', text: '' };
    return { kind: couple.paid > 200 ? 'bad' : 'good', text: this.t.paid(couple) };
  },
  get link() {
    return '?' + new URLSearchParams({ guard: this.guard, fault: this.fault, stock: this.stock, gap: this.gap,
      buyers: this.buyers, lang: this.language });
  },
  get verdict() {
    const { buyers, tally, sale } = this.state ?? {};
    if (!buyers) return { kind: '', text: this.t.verdicts.ready };
    if (tally.oversold) return { kind: 'bad', text: this.t.verdicts.oversold(tally, sale) };
    if (buyers.done < buyers.count) return { kind: '', text: this.t.verdicts.running };
    if (buyers.answers['gave up']) return { kind: 'bad', text: this.t.verdicts.stuck(buyers.answers['gave up']) };
    return { kind: 'good', text: this.t.verdicts.held(tally, sale) };
  },

  number(value) { return value === undefined ? '–' : Math.round(value).toLocaleString(this.language); },
  toggleLanguage() { this.language = this.language === 'en' ? 'zh' : 'en'; },

  async post(path, body) {
    const answer = await fetch('control/' + path, { method: 'POST', body: JSON.stringify(body ?? {}) });
    const said = await answer.json();
    this.trouble = answer.ok ? '' : said.detail;
    if (answer.ok) this.show(said);
    return answer.ok;
  },
  press(number, button) { return this.post(`nodes/${number}/${button}`); },
  withdraw() { return this.post('couple', { guard: this.guard, gapMillis: this.gap }); },
  async run() {
    if (!await this.post('sale', { guard: this.guard, stock: this.stock, gapMillis: this.gap })) return;
    // armed first: the next order of server 1 meets it
    if (this.fault && !await this.press(1, this.fault === 'kill' ? 'kill-next' : this.fault)) return;
    await this.post('buyers', { count: this.buyers });
  },
})));

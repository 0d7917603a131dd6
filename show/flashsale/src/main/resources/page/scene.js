// A scene's one component. What happened comes from the servers; it is only placed here.
const asked = new URLSearchParams(location.search);
// a link may come from anywhere: it chooses only what the page offers
const oneOf = (choices, name, otherwise) => choices.includes(asked.get(name)) ? asked.get(name) : otherwise;

document.addEventListener('alpine:init', () => Alpine.data('scene', () => ({
  scene: oneOf(Object.keys(texts.en.scenes), 'scene', 'hot-key'),
  language: oneOf(['en', 'zh'], 'lang', navigator.language.startsWith('zh') ? 'zh' : 'en'),
  way: 'plain',
  played: null,
  busy: false,
  trouble: '',

  init() { this.way = oneOf(Object.keys(this.told.ways), 'way', 'plain'); },

  get t() { return texts[this.language]; },
  get told() { return this.t.scenes[this.scene]; },
  get verdict() {
    if (this.busy) return { kind: '', text: this.t.playing };
    if (!this.played) return { kind: '', text: this.t.ready };
    return { kind: this.played.held ? 'good' : 'bad', text: this.told.verdict(this.played) };
  },
  get lanes() { return inLanes(this.played?.spans ?? [], this.played?.millis, 60); },
  title(lane) {
    const [server, reader] = lane.split('/');
    if (reader) return this.t.reader(server, reader);
    return this.t.lanes[lane] ?? this.t.server(lane);
  },
  words(span) { return this.t.kinds[span.kind](span.value); },
  line(span) { return `${(span.from / 1000).toFixed(2)} s: ${this.title(span.lane)}: ${this.words(span)}`; },

  toggleLanguage() { this.language = this.language === 'en' ? 'zh' : 'en'; },
  async play() {
    this.busy = true;
    this.trouble = '';
    try {
      const answer = await fetch('control/scenes/' + this.scene, { method: 'POST', body: JSON.stringify({ way: this.way }) });
      const said = await answer.json();
      if (answer.ok) this.played = said; else this.trouble = said.detail;
    } catch {
      this.trouble = this.t.gone;
    } finally {
      this.busy = false;
    }
  },
})));

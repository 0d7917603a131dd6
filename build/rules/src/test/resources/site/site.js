const root = document.body.dataset.root;

// ---- light or dark ----
document.getElementById('theme').addEventListener('click', () => {
  const html = document.documentElement;
  const dark = html.dataset.theme ? html.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  html.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('theme', html.dataset.theme) } catch { /* for this page alone */ }
});

// ---- contents: always open beside the text, behind a heading on a phone ----
const contents = document.querySelector('nav.contents details');
const wide = matchMedia('(min-width: 52.01rem)');
const unfold = () => { contents.open = wide.matches };
wide.addEventListener('change', unfold);
unfold();

// ---- code: colours, and a button that copies ----
document.querySelectorAll('main pre > code').forEach(code => {
  if (code.className) hljs.highlightElement(code);
  const block = document.createElement('div');
  block.className = 'block';
  code.parentElement.replaceWith(block);
  block.append(code.parentElement);
  if (navigator.clipboard) {
    const copy = document.createElement('button');
    copy.textContent = 'Copy';
    copy.addEventListener('click', () => navigator.clipboard.writeText(code.textContent).then(() => { copy.textContent = 'Copied' }));
    block.append(copy);
  }
});

// ---- search: the texts are loaded, and their index is made, when somebody begins to search ----
const field = document.getElementById('search');
const found = document.getElementById('found');
let sections, index;

const load = name => new Promise((done, failed) => {
  const script = document.createElement('script');
  script.src = root + 'site/' + name;
  script.onload = done;
  script.onerror = failed;
  document.head.append(script);
});

let ready;
const prepare = () => ready ??= Promise.all([load('lunr.min.js'), load('texts.js')]).then(() => {
  sections = texts;
  lunr.tokenizer.separator = /[^\p{L}\p{N}]+/u; // so that a word of holdfast.unlogged or Hold.onWanted() is found
  index = lunr(function () {
    this.pipeline.reset(); // words as they are: the beginning of one finds it
    this.ref('i');
    this.field('page', { boost: 4 });
    this.field('heading', { boost: 6 });
    this.field('text');
    sections.forEach((section, i) => this.add({ i, ...section }));
  });
});

const words = query => query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

// All words, or beginnings of them; whole ones first. Chinese has no blanks between words.
const hits = query => /[\u3400-\u9fff]/.test(query)
  ? sections.filter(section => (section.heading + section.text).includes(query.trim()))
  : index.query(q => words(query).forEach(word => {
    q.term(word, { presence: lunr.Query.presence.REQUIRED, wildcard: lunr.Query.wildcard.TRAILING });
    q.term(word, { boost: 10 });
  })).map(hit => sections[hit.ref]);

const excerpt = (text, query) => {
  const at = Math.max(0, ...words(query).map(word => text.toLowerCase().indexOf(word)));
  return (at > 40 ? '…' : '') + text.slice(Math.max(0, at - 40), at + 120) + '…';
};

const show = () => {
  found.replaceChildren();
  found.hidden = !field.value.trim();
  if (found.hidden) return;
  const best = hits(field.value).slice(0, 12);
  best.forEach(section => {
    const link = document.createElement('a');
    const title = document.createElement('b');
    const text = document.createElement('small');
    link.href = root + section.at;
    title.textContent = section.heading === section.page ? section.page : section.page + ' › ' + section.heading;
    text.textContent = excerpt(section.text, field.value);
    link.append(title, text);
    const item = document.createElement('li');
    item.append(link);
    found.append(item);
  });
  if (!best.length) {
    const none = document.createElement('li');
    none.className = 'none';
    none.textContent = 'Nothing found';
    found.append(none);
  }
};

field.addEventListener('focus', prepare);
field.addEventListener('input', () => prepare().then(show));
field.form.addEventListener('submit', event => {
  event.preventDefault();
  found.querySelector('a')?.click();
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && !/input|textarea/i.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape') {
    found.hidden = true;
    field.blur();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const links = [...found.querySelectorAll('a')];
    const next = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
    if (!found.hidden && links[next]) {
      event.preventDefault();
      links[next].focus();
    }
  }
});
document.addEventListener('click', event => { if (!field.form.contains(event.target)) found.hidden = true });

// The guides are whole without this script. It shows an example in one language, which it remembers, adds buttons that
// copy, colours code, names the cells of wide tables, which a phone shows as cards (guides.css), shows where in the menu
// the page is, and opens its table of contents where that stands beside it.
'use strict';

const say = (spanish, english) => (document.documentElement.lang === 'es' ? spanish : english);
const make = (name, properties) => Object.assign(document.createElement(name), properties);

const STRING = /"""[^]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/.source;
const WORDS = {
  sh: 'for|in|do|done|while|if|then|fi|export|curl|jq',
  php: 'use|new|function|return|foreach|as|if|throw|try|catch|require|echo|static|null|true|false',
  js: 'import|export|from|const|let|new|await|async|function|return|for|of|if|throw|try|catch|null|true|false',
  python: 'import|from|def|class|return|for|in|if|not|raise|try|except|as|with|async|await|and|or|lambda|None|True|False',
  json: 'true|false|null',
};
const REMARKS = { sh: '(?:^|\\s)#.*', python: '#.*', php: '//.*', js: '//.*' };

function colour(code, language) {
  const strings = language === 'sh' ? `"(?:\\\\.|[^"\\\\])*"|'[^']*'` : STRING;
  const pattern = `(?<remark>${REMARKS[language] ?? '(?!)'})|(?<string>${strings})|(?<name>\\$\\w+)|(?<word>\\b(?:${WORDS[language]})\\b)|(?<number>\\b\\d[\\d._]*\\b)`;
  const text = code.textContent;
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(new RegExp(pattern, 'gm'))) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    parts.push(text.slice(end, found.index), make('span', { className: kind, textContent: found[0] }));
    end = found.index + found[0].length;
  }
  code.replaceChildren(...parts, text.slice(end));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make('textarea', { value: text }); // over plain HTTP there is no clipboard
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
}

/** A button that copies the elements that `code` gives when it is pressed. */
function copier(code, label = say('Copiar', 'Copy')) {
  const button = make('button', { type: 'button', className: 'copy', textContent: label });
  button.addEventListener('click', async () => {
    await copy([...code()].map((part) => part.textContent).join('\n'));
    button.textContent = say('Copiado', 'Copied');
    setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

// Who forbids storage gets the first language.
function remembered() {
  try {
    return localStorage.getItem('language');
  } catch {
    return null;
  }
}

function remember(language) {
  try {
    localStorage.setItem('language', language);
  } catch {
    /* it holds for this page */
  }
}

const examples = [];

function choose(language) {
  for (const tabs of examples) {
    if (!tabs.some(({ tab }) => tab.dataset.language === language)) continue;
    for (const { tab, panel } of tabs) {
      const isChosen = tab.dataset.language === language;
      tab.setAttribute('aria-selected', isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      panel.hidden = !isChosen;
    }
  }
}

/** The tab that was pressed stays where it is, however long the examples before it have become. */
function press(tab) {
  const before = tab.getBoundingClientRect().top;
  choose(tab.dataset.language);
  remember(tab.dataset.language);
  scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
}

document.querySelectorAll('.example').forEach((example, at) => {
  const list = make('div', { className: 'tabs' });
  list.setAttribute('role', 'tablist');
  const tabs = [...example.children].map((details, n) => {
    const { language } = details.dataset;
    const code = details.querySelector('code');
    if (WORDS[language]) colour(code, language);
    const tab = make('button', { type: 'button', id: `tab-${at}-${n}`, textContent: details.querySelector('summary').textContent });
    const panel = make('div', { id: `panel-${at}-${n}` });
    tab.dataset.language = panel.dataset.language = language;
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', panel.id);
    tab.setAttribute('aria-selected', n === 0);
    tab.tabIndex = n === 0 ? 0 : -1;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    panel.hidden = n > 0;
    panel.append(details.querySelector('pre'));
    list.append(tab);
    details.replaceWith(panel);
    tab.addEventListener('click', () => press(tab));
    return { tab, panel };
  });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const { tab } = tabs[(tabs.findIndex(({ tab }) => tab === document.activeElement) + step + tabs.length) % tabs.length];
    press(tab);
    tab.focus();
  });
  const bar = make('div', { className: 'bar' });
  bar.append(list, copier(() => example.querySelectorAll('[role=tabpanel]:not([hidden]) code')));
  example.prepend(bar);
  examples.push(tabs);
});
choose(remembered());

// Where all blocks of a language are one program, the first that all languages have copies it whole.
const program = document.querySelector('.program:has([role=tab][data-language=sh])');
program?.querySelector('.bar').append(copier(() => {
  const { language } = program.querySelector('[aria-selected=true]').dataset;
  return document.querySelectorAll(`.program [role=tabpanel][data-language=${language}] code`);
}, say('Copiar todo el programa', 'Copy the whole program')));

for (const figure of document.querySelectorAll('figure.code')) {
  const code = figure.querySelector('code');
  if (/^\s*[[{]/.test(code.textContent)) colour(code, 'json');
  const bar = make('div', { className: 'bar' });
  bar.append(figure.querySelector('figcaption') ?? '', copier(() => [code]));
  figure.prepend(bar);
}

for (const table of document.querySelectorAll('main table')) {
  const names = [...table.querySelectorAll('thead th')].map((cell) => cell.textContent);
  if (names.length < 3) continue;
  table.classList.add('cards');
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, n) => (cell.dataset.label = names[n]));
}

const guides = document.getElementById('guides');
const current = guides.querySelector('[aria-current]');
const showCurrent = () => current && (guides.scrollTop += current.getBoundingClientRect().top - guides.getBoundingClientRect().top - guides.clientHeight / 2);
showCurrent();
guides.addEventListener('toggle', showCurrent);

const contents = document.querySelector('aside details');
if (contents) contents.open = matchMedia('(min-width: 88rem)').matches;
